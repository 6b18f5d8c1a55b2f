import type { CliFace } from '../face.ts';

/** Servers come and go at run time, by the hand of the client; nothing is configured beforehand. */
export const mcpmux: CliFace = {
  program: 'mcpmux',
  configFace: {
    defaults: {
      exposure: 'flat',
      naming: 'prefixed',
      management: { enabled: true, approval: 'auto', persist: false },
    },
    findsConfig: false,
    discovers: false,
  },
  volatile: true,
  motto: 'MCP servers that an agent adds, reloads and removes while it works',
  launch: 'npx -y -p mcp-switchboard mcpmux',
  environment: [
    ['SWITCHBOARD_LOG_LEVEL', 'as --log-level, which wins'],
    ['SWITCHBOARD_STATE_DIR', 'where it keeps what it remembers between runs'],
    ['NO_COLOR', 'no colours'],
  ],
};
