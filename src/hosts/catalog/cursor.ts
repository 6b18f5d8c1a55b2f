import type { Host } from '../host.ts';
import { USUAL_NAMES } from '../name-rule.ts';
import { joinPath } from '../paths.ts';

export const cursor: Host = {
  name: 'cursor',
  aliases: [],
  title: 'Cursor',
  format: 'jsonc',
  keyPath: ['mcpServers'],
  files: {
    user: (where) => [joinPath(where, where.home, '.cursor', 'mcp.json')],
    project: (where) => [joinPath(where, where.cwd, '.cursor', 'mcp.json')],
  },
  traces: (where) => [joinPath(where, where.home, '.cursor')],
  program: 'cursor',
  stdio: {},
  http: { address: 'url', constant: {}, bearer: 'header' },
  references: 'editor',
  envInheritance: 'everything',
  names: USUAL_NAMES,
  next: {
    user: 'In Cursor, run "Developer: Reload Window", or enable it in the MCP settings.',
    project: 'In Cursor, run "Developer: Reload Window", or enable it in the MCP settings.',
  },
};
