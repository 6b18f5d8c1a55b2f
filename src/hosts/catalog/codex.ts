import type { Host, HostEnvironment } from '../host.ts';
import { USUAL_NAMES } from '../name-rule.ts';
import { joinPath } from '../paths.ts';

export const codex: Host = {
  name: 'codex',
  aliases: ['codex-cli'],
  title: 'Codex',
  format: 'toml',
  keyPath: ['mcp_servers'],
  files: {
    user: (where) => [joinPath(where, folder(where), 'config.toml')],
    project: (where) => [joinPath(where, where.cwd, '.codex', 'config.toml')],
  },
  traces: (where) => [folder(where)],
  program: 'codex',
  stdio: {},
  http: { address: 'url', constant: {}, bearer: 'variable-name' },
  references: 'none',
  envInheritance: 'listed',
  names: USUAL_NAMES,
  next: {
    user: 'Start a new Codex session.',
    project: 'Start a new Codex session; it reads .codex/config.toml only in trusted projects.',
  },
};

function folder(where: HostEnvironment): string {
  return where.env.CODEX_HOME || joinPath(where, where.home, '.codex');
}
