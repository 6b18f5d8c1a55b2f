import type { Host } from '../host.ts';
import { USUAL_NAMES } from '../name-rule.ts';
import { joinPath, settingsHome } from '../paths.ts';

export const vscode: Host = {
  name: 'vscode',
  aliases: ['vs-code', 'code'],
  title: 'VS Code',
  format: 'jsonc',
  keyPath: ['servers'],
  files: {
    user: (where) => [joinPath(where, settingsHome(where), 'Code', 'User', 'mcp.json')],
    project: (where) => [joinPath(where, where.cwd, '.vscode', 'mcp.json')],
  },
  traces: (where) => [joinPath(where, settingsHome(where), 'Code')],
  program: 'code',
  stdio: { type: 'stdio' },
  http: { address: 'url', constant: { type: 'http' }, bearer: 'header' },
  references: 'editor',
  envInheritance: 'everything',
  names: USUAL_NAMES,
  next: {
    user: 'VS Code reloads the file automatically; start the server with "MCP: List Servers" and confirm that you trust it.',
    project:
      'VS Code reloads the file automatically; start the server with "MCP: List Servers" and confirm that you trust it.',
  },
};
