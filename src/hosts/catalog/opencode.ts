import type { Host, HostEnvironment } from '../host.ts';
import { USUAL_NAMES } from '../name-rule.ts';
import { joinPath } from '../paths.ts';

export const opencode: Host = {
  name: 'opencode',
  aliases: ['open-code'],
  title: 'opencode',
  format: 'jsonc',
  keyPath: ['mcp'],
  files: {
    user: (where) => namesIn(where, folder(where)),
    project: (where) => namesIn(where, where.cwd),
  },
  traces: (where) => [folder(where)],
  program: 'opencode',
  stdio: { type: 'local' },
  commandList: true,
  http: { address: 'url', constant: { type: 'remote' }, bearer: 'header' },
  references: 'braces',
  envInheritance: 'everything',
  names: USUAL_NAMES,
  next: {
    user: 'Restart opencode.',
    project: 'Restart opencode.',
  },
};

/** If both exist, the first one takes precedence. */
function namesIn(where: HostEnvironment, directory: string): string[] {
  return ['opencode.jsonc', 'opencode.json'].map((name) => joinPath(where, directory, name));
}

/** The same on every system, including Windows. */
function folder(where: HostEnvironment): string {
  return joinPath(where, where.env.XDG_CONFIG_HOME || joinPath(where, where.home, '.config'), 'opencode');
}
