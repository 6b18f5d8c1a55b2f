import { ALLOW_ROW, STATE_ROW, type CliVariant } from '../program-variant.ts';

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
      'contains switchboard/, with your own configuration; default ~/.config, on Windows %APPDATA%',
    ],
    ALLOW_ROW,
    STATE_ROW,
    ['NO_COLOR', 'disable colours'],
  ],
};
