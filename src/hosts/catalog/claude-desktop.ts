import type { Host } from '../host.ts';
import { USUAL_NAMES } from '../name-rule.ts';
import { joinPath, settingsHome } from '../paths.ts';

export const claudeDesktop: Host = {
  name: 'claude-desktop',
  aliases: ['desktop', 'claudedesktop'],
  title: 'Claude Desktop',
  format: 'json',
  keyPath: ['mcpServers'],
  files: {
    user: (where) =>
      // Of the builds for Linux some write the folder in small letters.
      (where.platform === 'linux' ? ['Claude', 'claude'] : ['Claude']).map((folder) =>
        joinPath(where, settingsHome(where), folder, 'claude_desktop_config.json'),
      ),
  },
  traces: (where) => [joinPath(where, settingsHome(where), 'Claude')],
  program: 'claude-desktop',
  stdio: {},
  // Remote servers are connectors there and are in no file.
  http: undefined,
  references: 'none',
  envInheritance: 'little',
  names: USUAL_NAMES,
  next: {
    user: 'Quit Claude Desktop completely and restart it.',
  },
};
