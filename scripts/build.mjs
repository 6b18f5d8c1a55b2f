// Bundles the programs into dist/: ESM, code split, no node_modules needed at run time.
import { build } from 'esbuild';
import { chmod, readFile, rm } from 'node:fs/promises';

const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));
const root = new URL('..', import.meta.url).pathname;

await rm(new URL('../dist', import.meta.url), { recursive: true, force: true });
await build({
  absWorkingDir: root,
  entryPoints: { index: 'src/index.ts' },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  minifySyntax: true,
  minifyWhitespace: true,
  sourcemap: false,
  legalComments: 'linked',
  chunkNames: 'chunks/[name]-[hash]',
  define: { __VERSION__: JSON.stringify(version) },
  logLevel: 'warning',
});
await chmod(new URL('../dist/index.js', import.meta.url), 0o755);
