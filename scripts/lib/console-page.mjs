import { readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

const SOURCE = 'src/console/page';
/** Where the server of the page serves dist/console. */
const PUBLIC = '/console';

/**
 * esbuild options for the page of the console: one script and one style sheet, whose names change with their content.
 */
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

/** The files of the page, and the document that loads them. */
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
