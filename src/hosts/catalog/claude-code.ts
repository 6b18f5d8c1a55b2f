import type { Host, HostEnvironment } from '../host.ts';
import { USUAL_NAMES } from '../name-rule.ts';
import { joinPath } from '../paths.ts';

export const claudeCode: Host = {
  name: 'claude-code',
  aliases: ['claude', 'claudecode'],
  title: 'Claude Code',
  format: 'json',
  keyPath: ['mcpServers'],
  files: {
    user: (where) => [userFile(where)],
    project: (where) => [joinPath(where, where.cwd, '.mcp.json')],
  },
  traces: (where) => [userFile(where), where.env.CLAUDE_CONFIG_DIR || joinPath(where, where.home, '.claude')],
  program: 'claude',
  stdio: { type: 'stdio' },
  http: { address: 'url', constant: { type: 'http' }, bearer: 'header' },
  references: 'shell',
  envInheritance: 'everything',
  names: { ...USUAL_NAMES, reserved: ['workspace', 'claude-in-chrome', 'computer-use'] },
  next: {
    user: 'Start a new Claude Code session, or reconnect with /mcp in a running one.',
    project: 'Claude Code asks once before it uses the servers of .mcp.json.',
  },
};

function userFile(where: HostEnvironment): string {
  return joinPath(where, where.env.CLAUDE_CONFIG_DIR || where.home, '.claude.json');
}
