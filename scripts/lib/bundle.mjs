import { context } from 'esbuild';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** The programs: their names in dist/, and where they begin. */
const PROGRAMS = {
  index: 'src/index.ts',
  'mcp-proxy-server': 'src/bins/mcp-proxy-server.ts',
  mcpmux: 'src/bins/mcpmux.ts',
};

/**
 * Bundles the programs into dist/: ESM, code split, no node_modules needed at run time. Returns an esbuild context;
 * `built` is called after each build, with the number of errors.
 */
export async function createBundler({ built = () => undefined } = {}) {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  return context({
    absWorkingDir: ROOT,
    entryPoints: { ...PROGRAMS, 'stdio-rpc': 'src/wire/stdio-rpc.ts' },
    outdir: 'dist',
    write: false,
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
    plugins: [
      startInOnePiece,
      {
        name: 'swap-in',
        setup: ({ onEnd }) =>
          onEnd(async ({ errors, outputFiles }) => {
            if (errors.length === 0) await swapIn(withoutEmptyImports(outputFiles));
            await built(errors.length);
          }),
      },
    ],
  });
}

/**
 * Code is split by who needs it, so what starting needs would be scattered over a dozen files, by which commands need
 * it too; each costs a host time. Here everything loaded later says that it needs all of it, which keeps it together.
 */
const startInOnePiece = {
  name: 'start-in-one-piece',
  setup({ onResolve, onLoad }) {
    const start = JSON.stringify(join(ROOT, 'src/cli/main.ts'));
    onResolve({ filter: /^\..*\.ts$/ }, ({ kind, path, resolveDir }) =>
      kind === 'dynamic-import' ? { path: join(resolveDir, path), pluginData: 'later' } : undefined,
    );
    onLoad({ filter: /\.ts$/ }, async ({ path, pluginData }) =>
      pluginData === 'later'
        ? { contents: `import ${start};\n${await readFile(path, 'utf8')}`, loader: 'ts' }
        : undefined,
    );
  },
};

/**
 * The few lines with which esbuild makes module objects stand in a file of their own, and files that need nothing of it
 * import it all the same, for its effects. It has none, and each file that a start has to read costs a host time.
 */
function withoutEmptyImports(files) {
  const texts = files.map(({ path, contents }) => ({ path, text: Buffer.from(contents).toString() }));
  const helpers = texts.filter(
    ({ path, text }) => path.includes('/chunk-') && /^var __defProp\b/.test(text) && text.length < 500,
  );
  return texts.map(({ path, text }) => ({
    path,
    contents: helpers.reduce(
      (rest, helper) => rest.replaceAll(new RegExp(`import"[^"]*${basename(helper.path)}";`, 'g'), ''),
      text,
    ),
  }));
}

/** Beside its place and then swapped in, so that a program that starts meanwhile finds a whole one. */
async function swapIn(files) {
  const dist = join(ROOT, 'dist');
  const fresh = join(ROOT, `dist.${process.pid}.tmp`);
  const old = join(ROOT, `dist.${process.pid}.old.tmp`);
  for (const { path, contents } of files) {
    const file = join(fresh, path.slice(dist.length + 1));
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, contents);
  }
  for (const name of Object.keys(PROGRAMS)) await chmod(join(fresh, `${name}.js`), 0o755);
  await rename(dist, old).catch(() => undefined);
  await rename(fresh, dist);
  await rm(old, { recursive: true, force: true });
}
