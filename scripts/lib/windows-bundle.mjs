/** Bundles tests for Node on Windows: they run without vitest, and in another place than their sources. */
import { build } from 'esbuild';
import { readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { assemblyForEsbuild } from './assembly.mjs';
import { ROOT } from './bundle.mjs';
import { threadsForEsbuild } from './thread.mjs';

/**
 * Bundles each file into `outdir`. `windowsPath` returns the Windows name of a path of this machine. Returns the bundle
 * of each file.
 */
export async function bundleTests(files, { outdir, windowsPath }) {
  const shim = windowsPath(join(ROOT, 'scripts/lib/windows-vitest.mjs'));
  await build({
    absWorkingDir: ROOT,
    entryPoints: files,
    outbase: ROOT,
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    define: { __VERSION__: '"0.0.0"' },
    logLevel: 'warning',
    plugins: [
      assemblyForEsbuild,
      threadsForEsbuild,
      {
        name: 'in-place',
        setup({ onResolve, onLoad }) {
          onResolve({ filter: /^vitest$/ }, () => ({ path: addressOf(shim), external: true }));
          onLoad({ filter: /[\\/](?:src|test)[\\/].*\.ts$/ }, async ({ path }) => {
            const text = (isTest(path) ? LOADED_FIRST : '') + (await readFile(path, 'utf8'));
            const here = windowsPath(path);
            const contents = text
              .replaceAll('import.meta.dirname', JSON.stringify(windowsPath(dirname(path))))
              .replaceAll('import.meta.filename', JSON.stringify(here))
              .replaceAll('import.meta.url', JSON.stringify(addressOf(here)));
            return { contents, loader: 'ts' };
          });
        },
      },
    ],
  });
  return new Map(
    files.map((file) => [file, join(outdir, relative(ROOT, join(ROOT, file)).replace(/\.ts$/, '.mjs'))]),
  );
}

/** The program loads this before it starts a child process; tests start child processes of their own. */
const LOADED_FIRST = `import { loadWindows as first } from ${JSON.stringify(join(ROOT, 'src/process/windows.ts'))};\nawait first();\n`;

const isTest = (path) => path.endsWith('.test.ts');

/** The file URI of a Windows path, also on other systems. */
function addressOf(path) {
  if (process.platform === 'win32') return pathToFileURL(path).href;
  return `file:///${path.replaceAll('\\', '/').replaceAll(' ', '%20')}`;
}
