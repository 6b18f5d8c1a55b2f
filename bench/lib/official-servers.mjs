import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** How an official server is started. */
export function official(name, ...args) {
  const manifest = createRequire(import.meta.url).resolve(
    `@modelcontextprotocol/server-${name}/package.json`,
  );
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8'));
  return { command: process.execPath, args: [join(dirname(manifest), bin[`mcp-server-${name}`]), ...args] };
}

/** What a model reads of a list of tools. */
export function definitions(tools) {
  return tools
    .map(({ name, description, inputSchema }) => JSON.stringify({ name, description, inputSchema }))
    .join('\n');
}
