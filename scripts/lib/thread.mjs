import { build } from 'esbuild';
import { resolve } from 'node:path';

// `import source from './name.thread'` refers to the file `name.ts` in the same folder, bundled.
const IMPORT = /\.thread$/;

/** esbuild plugin: imports the code of a thread as the text of one script, so that no separate file is needed. */
export const threadsForEsbuild = {
  name: 'threads',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: IMPORT }, ({ path, resolveDir }) => ({
      path: sourceOf(resolve(resolveDir, path)),
      namespace: 'thread',
    }));
    onLoad({ filter: /./, namespace: 'thread' }, async ({ path }) => {
      const { text, files } = await bundled(path);
      return { contents: text, loader: 'text', watchFiles: files };
    });
  },
};

/** The same plugin for Vitest. */
export const threadsForVite = {
  name: 'threads',
  enforce: 'pre',
  resolveId: (path, importer) =>
    IMPORT.test(path) && importer !== undefined ? resolve(importer, '..', path) : undefined,
  load: async (path) =>
    IMPORT.test(path)
      ? `export default ${JSON.stringify((await bundled(sourceOf(path))).text)};\n`
      : undefined,
};

function sourceOf(path) {
  return path.replace(IMPORT, '.ts');
}

async function bundled(path) {
  const { outputFiles, metafile } = await build({
    entryPoints: [path],
    write: false,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
  });
  const files = Object.keys(metafile.inputs).map((file) => resolve(file));
  return { text: outputFiles[0].text, files };
}
