import type { Host, Surroundings } from '../host.ts';
import { joined } from '../paths.ts';

export const gemini: Host = {
  name: 'gemini',
  aliases: ['gemini-cli'],
  title: 'Gemini CLI',
  format: 'jsonc-no-trailing-commas',
  keyPath: ['mcpServers'],
  files: {
    user: (where) => [joined(where, folder(where), 'settings.json')],
    project: (where) => [joined(where, where.cwd, '.gemini', 'settings.json')],
  },
  traces: (where) => [folder(where)],
  stdio: {},
  // Old versions read "url" as SSE; this key means the same to all of them.
  http: { address: 'httpUrl', constant: {}, bearer: 'header' },
  references: 'shell-and-bare',
  passes: 'all-but-secrets',
  // Its policies take a tool apart at the first "_".
  names: { pattern: /^[A-Za-z0-9-]+$/, allows: 'only letters, digits and "-"' },
  next: {
    user: 'In Gemini CLI, run /mcp reload, or start it again.',
    project: 'In Gemini CLI, run /mcp reload, or start it again.',
  },
  obstacle(document, name) {
    const allowed = (document as { mcp?: { allowed?: unknown } } | undefined)?.mcp?.allowed;
    if (!Array.isArray(allowed) || allowed.includes(name)) return undefined;
    return `"mcp.allowed" in this file does not list ${JSON.stringify(name)}, so Gemini CLI leaves it off: add it there.`;
  },
};

function folder(where: Surroundings): string {
  return joined(where, where.env.GEMINI_CLI_HOME || where.home, '.gemini');
}
