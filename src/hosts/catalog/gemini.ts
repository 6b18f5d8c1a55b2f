import type { Host, HostEnvironment } from '../host.ts';
import { joinPath } from '../paths.ts';

export const gemini: Host = {
  name: 'gemini',
  aliases: ['gemini-cli'],
  title: 'Gemini CLI',
  format: 'jsonc-no-trailing-commas',
  keyPath: ['mcpServers'],
  files: {
    user: (where) => [joinPath(where, folder(where), 'settings.json')],
    project: (where) => [joinPath(where, where.cwd, '.gemini', 'settings.json')],
  },
  traces: (where) => [folder(where)],
  program: 'gemini',
  stdio: {},
  // Old versions interpret "url" as SSE; this key means the same in all versions.
  http: { address: 'httpUrl', constant: {}, bearer: 'header' },
  references: 'shell-and-bare',
  // It drops variables that look like a secret by their name (KEY, AUTH, CERT …) or value.
  envInheritance: 'in-env',
  // Its policies split the name of a tool at the first "_".
  names: { pattern: /^[A-Za-z0-9-]+$/, allows: 'only letters, digits and "-"' },
  next: {
    user: 'In Gemini CLI, run /mcp reload, or restart it.',
    project: 'In Gemini CLI, run /mcp reload, or restart it.',
  },
  allowList: ['mcp', 'allowed'],
  obstacle(document, name) {
    const excluded = (document as { mcp?: { excluded?: unknown } } | undefined)?.mcp?.excluded;
    if (!Array.isArray(excluded) || !excluded.includes(name)) return undefined;
    return `"mcp.excluded" in this file lists ${JSON.stringify(name)}, so Gemini CLI does not use it: remove it there.`;
  },
};

function folder(where: HostEnvironment): string {
  return joinPath(where, where.env.GEMINI_CLI_HOME || where.home, '.gemini');
}
