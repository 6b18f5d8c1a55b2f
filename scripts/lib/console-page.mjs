import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

const SOURCE = 'src/console/page';
/** Where the program that serves the page serves dist/console. */
const PUBLIC = '/console';

/** Options of esbuild for the page of the console: one script and one style, with names that change with what is in them. */
export const CONSOLE_PAGE = {
  entryPoints: { console: `${SOURCE}/main.tsx`, icon: `${SOURCE}/icon.svg` },
  outdir: 'dist/console/assets',
  entryNames: '[name]-[hash]',
  loader: { '.svg': 'copy' },
  platform: 'browser',
  format: 'esm',
  target: ['chrome111', 'firefox114', 'safari16.4'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  minify: true,
};

/** The files of the page, with the document that loads the others. */
export async function withDocument(root, files) {
  const template = await readFile(join(root, SOURCE, 'index.html'), 'utf8');
  const address = (ending) => {
    const { path } = files.find(({ path }) => path.endsWith(ending));
    return `${PUBLIC}/assets/${basename(path)}`;
  };
  const html = template
    .replace(/\n\s*<!--.*?-->/gs, '')
    .replace('%ICON%', address('.svg'))
    .replace('%STYLE%', address('.css'))
    .replace('%SCRIPT%', address('.js'));
  const assets = dirname(files[0].path);
  // esbuild also writes an empty script for the icon's entry.
  return [...files, { path: join(dirname(assets), 'index.html'), contents: html }];
}
