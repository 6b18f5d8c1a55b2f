import { ALLOW_ROW, STATE_ROW, type CliVariant } from '../program-variant.ts';

export const switchboard: CliVariant = {
  program: 'switchboard',
  listens: {},
  motto: 'many MCP servers behind one, with one small tool for each',
  launch: 'npx -y mcp-switchboard',
  environment: [
    ['SWITCHBOARD_LOG_LEVEL', 'as --log-level, which wins'],
    ['SWITCHBOARD_HTTP_TOKEN', 'with --http: what clients must send, where http.token is not set'],
    [
      'XDG_CONFIG_HOME',
      'your own configuration is in its folder switchboard; default ~/.config, on Windows %APPDATA%',
    ],
    ALLOW_ROW,
    STATE_ROW,
    ['NO_COLOR', 'no colours'],
  ],
};
