// Bundles the programs into dist/: ESM, code split, no node_modules needed at run time.
import { build } from 'esbuild';
import { chmod, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const dist = join(root, 'dist');
// Beside its place and then swapped in, so that a program that starts meanwhile finds a whole one.
const fresh = join(root, `dist.${process.pid}.tmp`);
const old = join(root, `dist.${process.pid}.old.tmp`);

const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
await build({
  absWorkingDir: root,
  entryPoints: { index: 'src/index.ts', 'stdio-rpc': 'src/wire/stdio-rpc.ts' },
  outdir: fresh,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'linked',
  chunkNames: 'chunks/[name]-[hash]',
  define: { __VERSION__: JSON.stringify(version) },
  logLevel: 'warning',
});
await chmod(join(fresh, 'index.js'), 0o755);
await rename(dist, old).catch(() => undefined);
await rename(fresh, dist);
await rm(old, { recursive: true, force: true });
