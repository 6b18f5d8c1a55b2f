import type { Host, HostEnvironment } from '../host.ts';
import { USUAL_NAMES } from '../name-rule.ts';
import { joinPath } from '../paths.ts';

export const zed: Host = {
  name: 'zed',
  aliases: ['zed-editor'],
  title: 'Zed',
  format: 'jsonc',
  keyPath: ['context_servers'],
  files: {
    user: (where) => [joinPath(where, folder(where), 'settings.json')],
    project: (where) => [joinPath(where, where.cwd, '.zed', 'settings.json')],
  },
  traces: (where) => [folder(where)],
  program: 'zed',
  // Builds before 2026 skip an entry without this.
  stdio: { source: 'custom' },
  // Its headers are literal, so the token would have to be written to the file.
  http: undefined,
  references: 'none',
  envInheritance: 'everything',
  timeoutUnit: 'seconds',
  names: USUAL_NAMES,
  next: {
    user: 'Zed reloads the file automatically; the Agent Panel settings show whether the server is running.',
    project: 'Zed starts the servers of a project once you trust it.',
  },
};

/** Zed uses ~/.config on macOS, too. */
function folder(where: HostEnvironment): string {
  const { platform, home, env } = where;
  if (platform === 'win32')
    return joinPath(where, env.APPDATA || joinPath(where, home, 'AppData', 'Roaming'), 'Zed');
  const config = platform === 'linux' ? env.XDG_CONFIG_HOME : undefined;
  return joinPath(where, config || joinPath(where, home, '.config'), 'zed');
}
