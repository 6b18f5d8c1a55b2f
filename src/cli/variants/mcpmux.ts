import { STATE_ROW, type CliVariant } from '../program-variant.ts';

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
