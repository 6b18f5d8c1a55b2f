import type { Host } from '../host.ts';
import { USUAL_NAMES } from '../name-rule.ts';
import { joinPath } from '../paths.ts';

export const windsurf: Host = {
  name: 'windsurf',
  aliases: ['codeium', 'cascade'],
  title: 'Windsurf',
  format: 'jsonc',
  keyPath: ['mcpServers'],
  files: { user: (where) => [joinPath(where, where.home, '.codeium', 'windsurf', 'mcp_config.json')] },
  traces: (where) => [joinPath(where, where.home, '.codeium', 'windsurf')],
  program: 'windsurf',
  stdio: {},
  http: { address: 'serverUrl', constant: {}, bearer: 'header' },
  references: 'editor',
  envInheritance: 'everything',
  names: USUAL_NAMES,
  next: {
    user: 'In Windsurf, click refresh in the MCP panel of Cascade.',
  },
};
