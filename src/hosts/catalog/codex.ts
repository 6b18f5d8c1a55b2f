import type { Host, Surroundings } from '../host.ts';
import { USUAL_NAMES } from '../name-rule.ts';
import { joined } from '../paths.ts';

export const codex: Host = {
  name: 'codex',
  aliases: ['codex-cli'],
  title: 'Codex',
  format: 'toml',
  keyPath: ['mcp_servers'],
  files: {
    user: (where) => [joined(where, folder(where), 'config.toml')],
    project: (where) => [joined(where, where.cwd, '.codex', 'config.toml')],
  },
  traces: (where) => [folder(where)],
  program: 'codex',
  stdio: {},
  http: { address: 'url', constant: {}, bearer: 'variable-name' },
  references: 'none',
  passes: 'listed',
  names: USUAL_NAMES,
  next: {
    user: 'Start a new session of Codex.',
    project: 'Start a new session of Codex; it reads .codex/config.toml only where it trusts the project.',
  },
};

function folder(where: Surroundings): string {
  return where.env.CODEX_HOME || joined(where, where.home, '.codex');
}
