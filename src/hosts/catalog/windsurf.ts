import type { Host } from '../host.ts';
import { USUAL_NAMES } from '../name-rule.ts';
import { joined } from '../paths.ts';

export const windsurf: Host = {
  name: 'windsurf',
  aliases: ['codeium', 'cascade'],
  title: 'Windsurf',
  format: 'jsonc',
  keyPath: ['mcpServers'],
  files: { user: (where) => [joined(where, where.home, '.codeium', 'windsurf', 'mcp_config.json')] },
  traces: (where) => [joined(where, where.home, '.codeium', 'windsurf')],
  program: 'windsurf',
  stdio: {},
  http: { address: 'serverUrl', constant: {}, bearer: 'header' },
  references: 'editor',
  passes: 'everything',
  names: USUAL_NAMES,
  next: {
    user: 'In Windsurf, press refresh in the MCP panel of Cascade.',
  },
};
