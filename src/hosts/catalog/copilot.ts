import type { Host, HostEnvironment } from '../host.ts';
import { USUAL_NAMES } from '../name-rule.ts';
import { joinPath } from '../paths.ts';

export const copilot: Host = {
  name: 'copilot',
  aliases: ['copilot-cli', 'github-copilot'],
  title: 'Copilot CLI',
  format: 'jsonc',
  keyPath: ['mcpServers'],
  files: {
    user: (where) => [joinPath(where, folder(where), 'mcp-config.json')],
    // It also reads .mcp.json, which counts as Claude Code's.
    project: (where) => [joinPath(where, where.cwd, '.github', 'mcp.json')],
  },
  traces: (where) => [folder(where)],
  program: 'copilot',
  stdio: { type: 'local', tools: ['*'] },
  http: { address: 'url', constant: { type: 'http', tools: ['*'] }, bearer: 'header' },
  references: 'shell-and-bare',
  envInheritance: 'in-env',
  names: USUAL_NAMES,
  next: {
    user: 'In Copilot CLI, run /mcp reload, or restart it.',
    project: 'Copilot CLI uses it in trusted folders; run /mcp reload, or restart it.',
  },
};

function folder(where: HostEnvironment): string {
  return where.env.COPILOT_HOME || joinPath(where, where.home, '.copilot');
}
