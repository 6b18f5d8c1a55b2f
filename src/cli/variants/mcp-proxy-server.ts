import { ALLOW_ROW, STATE_ROW, type CliVariant } from '../program-variant.ts';

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
