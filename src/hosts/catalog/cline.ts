import type { Host, HostEnvironment } from '../host.ts';
import { USUAL_NAMES } from '../name-rule.ts';
import { joinPath, settingsHome } from '../paths.ts';

export const cline: Host = {
  name: 'cline',
  aliases: ['claude-dev'],
  title: 'Cline',
  format: 'json',
  keyPath: ['mcpServers'],
  files: {
    user: (where) => [
      where.env.CLINE_MCP_SETTINGS_PATH || joinPath(where, dataFolder(where), 'settings', FILE),
      // Where the extension stored servers before it shared them with the command line.
      ...['Code', 'Cursor'].map((editor) => joinPath(where, settingsHome(where), editor, ...EXTENSION, FILE)),
    ],
  },
  traces: (where) => [
    dataFolder(where),
    ...['Code', 'Cursor'].map((editor) => joinPath(where, settingsHome(where), editor, ...EXTENSION)),
  ],
  program: 'cline',
  stdio: { type: 'stdio' },
  http: { address: 'url', constant: { type: 'streamableHttp' }, bearer: 'header', untyped: 'sse' },
  references: 'editor',
  envInheritance: 'in-env',
  timeoutUnit: 'seconds',
  names: USUAL_NAMES,
  next: {
    user: 'Cline reloads the file automatically.',
  },
};

const FILE = 'cline_mcp_settings.json';
const EXTENSION = ['User', 'globalStorage', 'saoudrizwan.claude-dev', 'settings'];

function dataFolder(where: HostEnvironment): string {
  const { env, home } = where;
  return env.CLINE_DATA_DIR || joinPath(where, env.CLINE_DIR || joinPath(where, home, '.cline'), 'data');
}
