import { build } from 'esbuild';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { assemblyForEsbuild } from '../../scripts/lib/assembly.mjs';

const PARTS = [
  'search/tool-search',
  'search/tool-index',
  'search/terms',
  'search/signs',
  'exposure/search/find-answer',
  'exposure/search/tool-text',
];

/** The tool search, bundled as in dist/. */
export async function loadToolSearch() {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-bench-'));
  try {
    const outfile = join(folder, 'tool-search.mjs');
    await build({
      stdin: {
        contents: PARTS.map((part) => `export * from './${part}.ts';`).join('\n'),
        resolveDir: fileURLToPath(new URL('../../src', import.meta.url)),
        loader: 'ts',
      },
      plugins: [assemblyForEsbuild],
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      outfile,
      logLevel: 'error',
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A list of tools in the form that the gateway uses. */
export function searchedServer({ name, tools }) {
  const offered = tools.map((tool) => ({
    name: tool.name,
    original: tool.name,
    component: { key: tool.name, text: JSON.stringify(tool), value: tool, member: (key) => tool[key] },
    presets: undefined,
  }));
  const listing = { components: [], byKey: new Map(), incomplete: undefined };
  const byName = new Map(offered.map((tool) => [tool.name, tool]));
  return { name, about: '', tools: { listing, tools: offered, byName } };
}
