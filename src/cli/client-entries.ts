/** What to paste where, so that a host connects to an address. */
export interface ClientEntry {
  readonly host: string;
  /** The file it goes into, or how it is used. */
  readonly where: string;
  readonly text: string;
  /** What to run beforehand where the host is started. Default nothing. */
  readonly first?: string;
}

/** Ready-to-paste entries for the hosts that can connect; `bearer` is the token, or a placeholder for it. */
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
      where: '~/.codex/config.toml',
      first: `export ${variable}=${bearer}`,
      text: `[mcp_servers.${name}]\nurl = ${JSON.stringify(url)}\nbearer_token_env_var = ${JSON.stringify(variable)}`,
    },
    {
      host: 'Others',
      where: 'the address, and a header for every request',
      text: `${url}\nAuthorization: Bearer ${bearer}`,
    },
  ];
}
