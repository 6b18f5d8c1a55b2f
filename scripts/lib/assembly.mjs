import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const MODULES = fileURLToPath(new URL('../../node_modules/', import.meta.url));
const CACHE = join(MODULES, '.cache/assembly');
const OPTIONS = ['-O3', '--noAssert', '--runtime', 'stub', '--enable', 'simd'];
// `import base64 from './name.wasm'` refers to the AssemblyScript file `name.ts` in the same folder.
const IMPORT = /\.wasm$/;

/** esbuild plugin: compiles imported AssemblyScript and returns the bytes in base64. */
export const assemblyForEsbuild = {
  name: 'assembly',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: IMPORT }, ({ path, resolveDir }) => ({
      path: sourceOf(resolve(resolveDir, path)),
      namespace: 'assembly',
    }));
    onLoad({ filter: /./, namespace: 'assembly' }, async ({ path }) => ({
      contents: await moduleText(path),
      watchDirs: [dirname(path)],
    }));
  },
};

/** The same plugin for Vitest. */
export const assemblyForVite = {
  name: 'assembly',
  enforce: 'pre',
  resolveId: (path, importer) =>
    IMPORT.test(path) && importer !== undefined ? resolve(dirname(importer), path) : undefined,
  load: (path) => (IMPORT.test(path) ? moduleText(sourceOf(path)) : undefined),
};

function sourceOf(path) {
  return path.replace(IMPORT, '.ts');
}

async function moduleText(path) {
  const bytes = await compiled(path);
  return `export default ${JSON.stringify(bytes.toString('base64'))};\n`;
}

/** Compiling takes seconds, so the result is cached. */
async function compiled(path) {
  const folder = dirname(path);
  const names = (await readdir(folder)).sort();
  const sources = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  const compiler = await readFile(join(MODULES, 'assemblyscript/package.json'), 'utf8').catch((cause) => {
    throw new Error('assemblyscript, which compiles the scanner, is not installed: run npm install', {
      cause,
    });
  });
  const key = createHash('sha256').update(JSON.stringify([path, OPTIONS, compiler, names, sources]));
  const kept = join(CACHE, `${key.digest('hex')}.wasm`);
  // Several bundles are built at the same time, but each module is compiled only once.
  if (!compilations.has(kept)) compilations.set(kept, readOrCompile(kept, path));
  return compilations.get(kept);
}

const compilations = new Map();

async function readOrCompile(kept, path) {
  const before = await readFile(kept).catch(() => undefined);
  if (before !== undefined) return before;
  const { default: asc } = await import('assemblyscript/asc');
  let binary;
  const where = ['--baseDir', dirname(path), '--outFile', 'module.wasm'];
  const { error, stderr } = await asc.main([basename(path), ...where, ...OPTIONS], {
    writeFile: (_name, contents) => {
      binary = Buffer.from(contents);
    },
  });
  if (error) throw new Error(`${path} cannot be compiled: ${error.message}\n${stderr.toString()}`);
  await mkdir(CACHE, { recursive: true });
  // Another process may be reading or writing the same file.
  const draft = `${kept}.${process.pid}`;
  await writeFile(draft, binary);
  await rename(draft, kept);
  return binary;
}
