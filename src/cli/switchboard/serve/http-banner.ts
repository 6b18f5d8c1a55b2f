import type { LoadedConfig } from '../../../config/index.ts';
import { printableLine } from '../../../shared/printable.ts';
import type { CommandOutcome } from '../../kit/command.ts';
import type { CliVariant } from '../variants.ts';
import { TOKEN_VARIABLE, type HttpToken } from './http-token.ts';
import { noServersText } from '../server/select-servers.ts';

export interface HttpBannerOptions {
  /** Where clients connect. */
  readonly url: string;
  readonly token: HttpToken;
  /** Whether the token is shown even if it is not new or the output is not a terminal. */
  readonly showToken: boolean;
  /** Whether the output is a terminal and not a log. */
  readonly isTerminal: boolean;
  readonly config: LoadedConfig;
  readonly variant: CliVariant;
  /** Creates a link that logs one browser in to the console. Default: there is no console. */
  readonly consoleLink?: (() => string) | undefined;
  /** Whether the gateway ends when its last client has left. */
  readonly goesWithLast: boolean;
  /** Default: the system we run on. */
  readonly platform?: NodeJS.Platform;
}

/** The text printed when clients can connect: the address, the servers, the token, and entries to paste. */
export function httpBanner(options: HttpBannerOptions): CommandOutcome {
  const { url, token, config, variant, goesWithLast, consoleLink, platform = process.platform } = options;
  const { from, file, made } = token;
  // Shown once on a terminal, when it is created; after that only on request.
  const shown = (made && options.isTerminal) || options.showToken ? token.token : undefined;
  const entries = clientEntries(variant.program, url, shown ?? '<token>', platform);
  // Not through a URL object, which would leave out port 80.
  const at = (path: string): string => url.replace(/\/mcp$/, path);
  const source =
    from === 'config'
      ? 'http.token of the configuration'
      : from === 'environment'
        ? TOKEN_VARIABLE
        : `${file ?? ''}${made ? ', just created' : ''}`;
  // An unused link is a secret too.
  const link = options.isTerminal || options.showToken ? consoleLink?.() : undefined;
  const stay = variant.listens?.stayVariable;
  const lines = [
    `${variant.program} serves MCP at ${url}`,
    `  older clients: ${at('/sse')}`,
    ...(consoleLink === undefined
      ? []
      : [link === undefined ? `  console: ${at('/console')}` : `  console: ${link} (works once)`]),
    `  configuration: ${configurationText(config)}`,
    `  token: ${source}${shown === undefined ? ' (--show-token adds it to the entries below)' : ''}`,
    ...(stay === undefined
      ? []
      : [
          goesWithLast
            ? `  It stops when its last client disconnects; ${stay}=1 keeps it running.`
            : `  It keeps running when its last client disconnects (${stay}=1).`,
        ]),
    ...entries.flatMap(({ host, where, text, first }) => [
      '',
      ...(first === undefined ? [] : [`${host} (first run, where it is started):`, `  ${first}`]),
      `${host} (${where}):`,
      ...text.split('\n').map((line) => `  ${line}`),
    ]),
    '',
  ];
  const data = {
    url,
    sse: at('/sse'),
    health: at('/healthz'),
    ...(consoleLink === undefined ? {} : { console: link ?? at('/console') }),
    pid: process.pid,
    config: config.file ?? null,
    servers: config.servers.map((server) => server.name),
    skipped: config.unusable.map(({ name }) => name),
    endsWithLastClient: goesWithLast,
    token: { from, file: file ?? null, ...(shown === undefined ? {} : { value: shown }) },
    entries,
  };
  return {
    data,
    text: () => `${lines.join('\n')}\n`,
    // It is served anyway: servers that are added later appear after a reload.
    remark: nothingToServe(config) ? `${variant.program}: ${noServersText(variant, config)}` : undefined,
  };
}

/** If clients may add servers, having none is not a mistake. */
function nothingToServe({ servers, settings }: LoadedConfig): boolean {
  return servers.length === 0 && !settings.management.enabled;
}

/** `/home/me/switchboard.config.json (2 servers: files, memory)` */
function configurationText({ file, directory, servers, unusable }: LoadedConfig): string {
  const list = (names: readonly string[]): string => {
    const some = names.slice(0, MOST_NAMES).map(printableLine);
    return [...some, ...(names.length > some.length ? ['…'] : [])].join(', ');
  };
  const count = `${servers.length || 'no'} ${servers.length === 1 ? 'server' : 'servers'}`;
  const names = servers.length === 0 ? '' : `: ${list(servers.map((server) => server.name))}`;
  const skipped = unusable.length === 0 ? '' : `; skipped: ${list(unusable.map(({ name }) => name))}`;
  return `${printableLine(file ?? `none in ${directory}`)} (${count}${names}${skipped})`;
}

const MOST_NAMES = 8;

/** What to paste into a host to connect it to an address. */
interface ClientEntry {
  readonly host: string;
  /** The file it goes into, or how it is used. */
  readonly where: string;
  readonly text: string;
  /** What to run first, where the host is started. Default nothing. */
  readonly first?: string;
}

/** Ready-to-paste entries for the hosts that can connect; `bearer` is the token, or a placeholder for it. */
function clientEntries(name: string, url: string, bearer: string, platform: NodeJS.Platform): ClientEntry[] {
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
      // On Windows, for PowerShell.
      first:
        platform === 'win32' ? `$env:${TOKEN_VARIABLE} = "${bearer}"` : `export ${TOKEN_VARIABLE}=${bearer}`,
      text: `[mcp_servers.${name}]\nurl = ${JSON.stringify(url)}\nbearer_token_env_var = ${JSON.stringify(TOKEN_VARIABLE)}`,
    },
    {
      host: 'Others',
      where: 'the address, and a header for every request',
      text: `${url}\nAuthorization: Bearer ${bearer}`,
    },
  ];
}
