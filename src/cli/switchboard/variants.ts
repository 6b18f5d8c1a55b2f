import type { ProgramVariant } from '../../config/index.ts';

/** One of the programs that this command line can be. */
export interface CliVariant {
  readonly program: 'switchboard' | 'mcp-proxy-server' | 'mcpmux';
  /** What it expects of a configuration. Default: as `switchboard`. */
  readonly configVariant?: ProgramVariant;
  /** Whether its servers are there only while they run, and only a reload brings them back. Default false. */
  readonly volatile?: boolean;
  /** How it serves clients that connect. Default: it serves only the host that started it. */
  readonly listens?: ListenSettings;
  /** What it does, in one line. */
  readonly motto: string;
  /** What else to know of it, in paragraphs. Default none. */
  readonly about?: readonly string[];
  /** How servers come to it where not through the configuration, as a sentence. Default: they do not. */
  readonly servers?: string;
  /** The command by which a host starts it. */
  readonly launch: string;
  /** Variables of the environment that it reads and `switchboard` does not. */
  readonly variables?: VariantVariables;
  /** All variables of the environment that mean something to it, and what they mean. */
  readonly environment: readonly (readonly [name: string, meaning: string])[];
}

export interface ListenSettings {
  /** The variable that sets the port and enables HTTP without a flag. Default none. */
  readonly portVariable?: string;
  /** The variable that, set to 1, keeps it running when the last client has left. Default: it always goes on. */
  readonly stayVariable?: string;
}

export interface VariantVariables {
  /** Names the configuration file, where no flag does. */
  readonly config: string;
  /** `debug` or `info`, where neither a flag nor SWITCHBOARD_LOG_LEVEL says more. */
  readonly logLevel: string;
  /** Names the directory of the log file, before the configuration. */
  readonly logDirectory: string;
}

/** The row of the help about the directory that every program of ours keeps things in. */
const STATE_ROW: readonly [name: string, meaning: string] = [
  'SWITCHBOARD_STATE_DIR',
  'directory for state between runs; default $XDG_STATE_HOME/switchboard or\n' +
    '~/.local/state/switchboard, on macOS ~/Library/Application Support/switchboard, on Windows\n' +
    '%LOCALAPPDATA%\\switchboard',
];

/** The row of the help about projects that need not be allowed. */
const ALLOW_ROW: readonly [name: string, meaning: string] = [
  'SWITCHBOARD_ALLOW_PROJECT',
  '1: use the files of every project without asking',
];

/** Whether it has a configuration only where one is named on the command line. */
export function requiresConfigFlag({ configVariant }: CliVariant): boolean {
  return configVariant?.findsConfig === false;
}

/** Whether it reads a person's own configuration and that of a project; the other programs have one. */
export function hasLayers({ configVariant }: CliVariant): boolean {
  return configVariant === undefined;
}

/**
 * Replaces placeholders in a text: `$0` is the program, `$CONFIG` for the usual name of its configuration, and `$DEFAULT` for
 * what it reads where none is named. `$LAYERS[…]` is only for a program that has layers.
 */
export function expandPlaceholders(variant: CliVariant, text: string): string {
  return text
    .replaceAll(/\$LAYERS\[([^\]]*)\]/g, (_all, words: string) => (hasLayers(variant) ? words : ''))
    .replaceAll('$0', variant.program)
    .replaceAll('$DEFAULT', defaultConfig(variant))
    .replaceAll('$CONFIG', variant.configVariant?.configFile ?? USUAL_CONFIG);
}

function defaultConfig(variant: CliVariant): string {
  if (requiresConfigFlag(variant)) return 'none';
  return variant.configVariant?.configFile === undefined ? 'the user file and the project file' : './$CONFIG';
}

const USUAL_CONFIG = 'switchboard.config.json';

export const switchboard: CliVariant = {
  program: 'switchboard',
  listens: {},
  motto: 'an MCP gateway that exposes one small tool per server',
  launch: 'npx -y mcp-switchboard',
  environment: [
    ['SWITCHBOARD_LOG_LEVEL', 'same as --log-level, which takes precedence'],
    ['SWITCHBOARD_HTTP_TOKEN', 'with --http: the token clients must send, if http.token is not set'],
    [
      'XDG_CONFIG_HOME',
      'contains switchboard/, with your user file; default ~/.config, on Windows %APPDATA%',
    ],
    ALLOW_ROW,
    STATE_ROW,
    ['NO_COLOR', 'disable colours'],
  ],
};

/** The coordinator: a configuration of its own, every tool on its own, under its own name. */
export const mcpProxyServer: CliVariant = {
  program: 'mcp-proxy-server',
  listens: { portVariable: 'PORT', stayVariable: 'KEEP_SERVER_OPEN' },
  configVariant: {
    defaults: { exposure: 'flat', naming: 'plain' },
    program: 'mcp-proxy-server',
    configFile: 'config.json',
    configHint: 'Create it, or name another file with --config or MCP_PROXY_CONFIG_PATH.',
    discovers: false,
  },
  motto: 'an MCP gateway that exposes all tools of all servers in one list',
  launch: 'npx -y -p mcp-switchboard mcp-proxy-server',
  variables: {
    config: 'MCP_PROXY_CONFIG_PATH',
    logLevel: 'MCP_PROXY_LOG_LEVEL',
    logDirectory: 'MCP_PROXY_LOG_DIRECTORY_PATH',
  },
  environment: [
    [
      'MCP_PROXY_CONFIG_PATH',
      'the configuration file, relative to the working directory; --config takes precedence',
    ],
    ['MCP_PROXY_LOG_LEVEL', 'debug or info; --log-level takes precedence'],
    ['MCP_PROXY_LOG_DIRECTORY_PATH', 'also write the log to mcp-proxy-server.log in this directory'],
    [
      'PORT',
      'serve clients over HTTP and SSE on this port, unless a host started it over a pipe or --stdio is set',
    ],
    ['KEEP_SERVER_OPEN', '1: over HTTP, keep running when the last client disconnects; otherwise it stops'],
    ['SWITCHBOARD_HTTP_TOKEN', 'over HTTP: the token clients must send, if http.token is not set'],
    ['SWITCHBOARD_LOG_LEVEL', 'same as --log-level, which takes precedence'],
    ALLOW_ROW,
    STATE_ROW,
    ['NO_COLOR', 'disable colours'],
  ],
};

/** Servers come and go at run time, by the hand of the client; nothing is configured beforehand. */
export const mcpmux: CliVariant = {
  program: 'mcpmux',
  configVariant: {
    defaults: {
      exposure: 'flat',
      naming: 'prefixed',
      management: { enabled: true, approval: 'auto', persist: false },
    },
    findsConfig: false,
    discovers: false,
  },
  volatile: true,
  motto: 'an MCP gateway whose servers an agent adds, reloads and removes at run time',
  about: [
    'It starts without servers. The agent manages them with these MCP tools:',
    '  add_server {name, command, args, env, cwd}   start a program as a server; its tools are named NAME__TOOL\n' +
      '  remove_server {name}                         remove a server and its tools\n' +
      '  reload_server {name}                         restart it, after a rebuild or a crash\n' +
      '  list_servers {}                              command, status, process and tools of each',
    'A crashed server stays down until it is reloaded. Added servers are not saved. An agent that ' +
      'can add a server can start any program with your permissions, so use this only where that is acceptable, or in a sandbox.',
  ],
  servers: 'Agents manage servers with the MCP tools add_server, remove_server and reload_server.',
  launch: 'npx -y -p mcp-switchboard mcpmux',
  environment: [
    ['SWITCHBOARD_LOG_LEVEL', 'same as --log-level, which takes precedence'],
    STATE_ROW,
    ['NO_COLOR', 'disable colours'],
  ],
};
