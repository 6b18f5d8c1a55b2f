/** What to paste where, so that a host connects to an address. */
export interface ClientEntry {
  readonly host: string;
  /** The file it goes into, or how it is used. */
  readonly where: string;
  readonly text: string;
}

/** Ready-to-paste entries for the hosts that can connect; `bearer` is the token, or a word that stands for it. */
export function clientEntries(name: string, url: string, bearer: string, variable: string): ClientEntry[] {
  const headers = { Authorization: `Bearer ${bearer}` };
  const json = (value: unknown): string => JSON.stringify(value, undefined, 2);
  return [
    {
      host: 'Claude Code',
      where: 'run',
      text: `claude mcp add --transport http ${name} ${url} --header "Authorization: Bearer ${bearer}"`,
    },
    {
      host: 'Cursor',
      where: '~/.cursor/mcp.json',
      text: json({ mcpServers: { [name]: { url, headers } } }),
    },
    {
      host: 'VS Code',
      where: '.vscode/mcp.json',
      text: json({ servers: { [name]: { type: 'http', url, headers } } }),
    },
    {
      host: 'Codex',
      where: `~/.codex/config.toml, with the token in ${variable}`,
      text: `[mcp_servers.${name}]\nurl = ${JSON.stringify(url)}\nbearer_token_env_var = ${JSON.stringify(variable)}`,
    },
  ];
}
