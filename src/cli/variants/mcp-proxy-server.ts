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
  motto: 'many MCP servers behind one, with all their tools',
  launch: 'npx -y -p mcp-switchboard mcp-proxy-server',
  variables: {
    config: 'MCP_PROXY_CONFIG_PATH',
    logLevel: 'MCP_PROXY_LOG_LEVEL',
    logDirectory: 'MCP_PROXY_LOG_DIRECTORY_PATH',
  },
  environment: [
    [
      'MCP_PROXY_CONFIG_PATH',
      'the configuration file, absolute or relative to where it is started; --config wins',
    ],
    ['MCP_PROXY_LOG_LEVEL', 'debug or info; --log-level wins'],
    ['MCP_PROXY_LOG_DIRECTORY_PATH', 'log lines are also written to mcp-proxy-server.log in this directory'],
    [
      'PORT',
      'clients are served over HTTP and SSE on this port, unless a host has started it on a pipe, or --stdio is given',
    ],
    [
      'KEEP_SERVER_OPEN',
      'set to 1, it goes on over HTTP when the last client has left; otherwise it ends then',
    ],
    ['SWITCHBOARD_HTTP_TOKEN', 'over HTTP: what clients must send, where http.token is not set'],
    ['SWITCHBOARD_LOG_LEVEL', 'any level of --log-level, which wins'],
    ALLOW_ROW,
    STATE_ROW,
    ['NO_COLOR', 'no colours'],
  ],
};
