import type { Host, Surroundings } from '../host.ts';
import { USUAL_NAMES } from '../name-rule.ts';
import { joined } from '../paths.ts';

export const zed: Host = {
  name: 'zed',
  aliases: ['zed-editor'],
  title: 'Zed',
  format: 'jsonc',
  keyPath: ['context_servers'],
  files: {
    user: (where) => [joined(where, folder(where), 'settings.json')],
    project: (where) => [joined(where, where.cwd, '.zed', 'settings.json')],
  },
  traces: (where) => [folder(where)],
  program: 'zed',
  // Builds before 2026 skip an entry without it.
  stdio: { source: 'custom' },
  // Its headers are literal: the token would have to be written into the file.
  http: undefined,
  references: 'none',
  passes: 'everything',
  timeoutUnit: 'seconds',
  names: USUAL_NAMES,
  next: {
    user: 'Zed reads the file again by itself; the Agent Panel settings show whether the server runs.',
    project: 'Zed starts the servers of a project once you trust it.',
  },
};

/** Zed keeps to ~/.config on a Mac, too. */
function folder(where: Surroundings): string {
  const { platform, home, env } = where;
  if (platform === 'win32')
    return joined(where, env.APPDATA || joined(where, home, 'AppData', 'Roaming'), 'Zed');
  const config = platform === 'linux' ? env.XDG_CONFIG_HOME : undefined;
  return joined(where, config || joined(where, home, '.config'), 'zed');
}
