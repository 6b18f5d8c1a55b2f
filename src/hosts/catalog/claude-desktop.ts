import { existsSync } from 'node:fs';
import type { Host, HostEnvironment } from '../host.ts';
import { USUAL_NAMES } from '../name-rule.ts';
import { joinPath, settingsHome } from '../paths.ts';

export const claudeDesktop: Host = {
  name: 'claude-desktop',
  aliases: ['desktop', 'claudedesktop'],
  title: 'Claude Desktop',
  format: 'json',
  keyPath: ['mcpServers'],
  files: {
    user: (where) => folders(where).map((folder) => joinPath(where, folder, 'claude_desktop_config.json')),
  },
  traces: (where) => folders(where),
  program: 'claude-desktop',
  stdio: {},
  // Remote servers are connectors there, which are not stored in a file.
  http: undefined,
  references: 'none',
  envInheritance: 'little',
  names: USUAL_NAMES,
  next: {
    user: 'Quit Claude Desktop completely and restart it.',
  },
};

function folders(where: HostEnvironment): string[] {
  const { platform } = where;
  const usual = joinPath(where, settingsHome(where), 'Claude');
  // Some builds for Linux write the folder in lower case.
  if (platform === 'linux') return [usual, joinPath(where, settingsHome(where), 'claude')];
  const packaged = platform === 'win32' ? packagedFolder(where) : undefined;
  return packaged !== undefined && existsSync(packaged) ? [packaged, usual] : [usual];
}

/**
 * Since 2026 the Windows app is a package, and the system redirects what it writes to %APPDATA%. It reads the usual
 * folder only if this one has no such file. The name of the package contains a hash of its publisher.
 */
function packagedFolder(where: HostEnvironment): string {
  const local = where.env.LOCALAPPDATA || joinPath(where, where.home, 'AppData', 'Local');
  return joinPath(where, local, 'Packages', 'Claude_pzs8sxrjxfjjc', 'LocalCache', 'Roaming', 'Claude');
}
