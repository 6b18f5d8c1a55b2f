import { context } from 'esbuild';
import { chmod, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assemblyForEsbuild } from './assembly.mjs';
import { asCommonJs } from './common-js.mjs';
import { CONSOLE_PAGE, withDocument } from './console-page.mjs';
import { pastIndexes } from './past-indexes.mjs';
import { threadsForEsbuild } from './thread.mjs';

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/**
 * Programs that start alike, each with its name in dist/ and its entry file. Each group is bundled separately:
 * otherwise the code shared by two groups would be split into separate files, and every file that a start has to read
 * costs time.
 */
const GROUPS = [
  {
    start: 'src/cli/switchboard/main.ts',
    programs: {
      index: 'src/index.ts',
      'mcp-proxy-server': 'src/bins/mcp-proxy-server.ts',
      mcpmux: 'src/bins/mcpmux.ts',
    },
    libraries: {},
  },
  {
    start: 'src/cli/switchyard/main.ts',
    programs: { switchyard: 'src/bins/switchyard.ts' },
    libraries: {},
  },
  { programs: {}, libraries: { 'stdio-rpc': 'src/wire/stdio-rpc.ts' } },
  { programs: {}, page: CONSOLE_PAGE },
];

/**
 * Bundles the programs into dist/: split into chunks, without node_modules at run time. Calls `built` after each build,
 * with the number of errors.
 */
export async function createBundler({ built = () => undefined } = {}) {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  const outputs = new Map();
  let swapping = Promise.resolve();
  const done = (group, output, errors) => {
    swapping = swapping.then(async () => {
      if (output === undefined) outputs.delete(group);
      else outputs.set(group, output);
      // On the first build, other groups are still missing.
      if (errors === 0 && outputs.size < GROUPS.length) return;
      if (errors === 0) await swapIn([...outputs.values()]);
      await built(errors);
    });
    return swapping;
  };
  const contexts = await Promise.all(GROUPS.map((group) => contextOf(group, version, done)));
  const each = (act) => Promise.all(contexts.map(act));
  return {
    rebuild: () => each((bundle) => bundle.rebuild()),
    watch: () => each((bundle) => bundle.watch()),
    dispose: () => each((bundle) => bundle.dispose()),
  };
}

function contextOf(group, version, done) {
  return context({
    absWorkingDir: ROOT,
    write: false,
    bundle: true,
    // Complete and in a separate file, next to the license texts of packages.
    legalComments: 'none',
    metafile: true,
    logLevel: 'warning',
    ...(group.page ?? programOptions(group, version)),
    plugins: [
      ...(group.page === undefined ? [assemblyForEsbuild, threadsForEsbuild] : []),
      ...(group.start === undefined ? [] : [startInOnePiece(group.start), pastIndexes]),
      {
        name: 'swap-in',
        setup: ({ onEnd }) =>
          onEnd(async ({ errors, outputFiles, metafile }) => {
            if (errors.length > 0) return done(group, undefined, errors.length);
            return done(group, { files: await finished(group, outputFiles), metafile }, 0);
          }),
      },
    ],
  });
}

const programOptions = (group, version) => ({
  entryPoints: { ...group.programs, ...group.libraries },
  outdir: 'dist',
  outExtension: { '.js': group.start === undefined ? '.mjs' : '.js' },
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // Node supports them, but V8 reads the Unicode tables for each `\p{…}` in a file it loads, even in functions that are
  // never called. As calls of RegExp they cost time only when they are used: they are in functions, not at the top level
  // of a module. The setting for these escapes alone misses those inside brackets; this one covers the flag `u`.
  supported: { 'regexp-sticky-and-unicode-flags': false },
  minifySyntax: true,
  minifyWhitespace: true,
  chunkNames: 'chunks/[name]-[hash]',
  // Has a binary for each system, which may be missing.
  external: ['@napi-rs/keyring'],
  // The format that the packages around it require: in both formats at once, its exports would be set too late.
  alias: { '@opentelemetry/api': join(ROOT, 'node_modules/@opentelemetry/api/build/src/index.js') },
  define: { __VERSION__: JSON.stringify(version) },
});

/**
 * esbuild splits code by the entry points that need it, which would scatter the code for starting over a dozen files;
 * each costs a host time. Here every chunk that is loaded later declares that it needs all of it, which keeps it
 * together. Saves 9 of the 65 ms of CPU of a start with 200 servers, and 8 of the 60 of `switchyard brief` (Node 20).
 */
const startInOnePiece = (start) => ({
  name: 'start-in-one-piece',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[./].*\.ts$/ }, ({ kind, path: given, resolveDir }) => {
      const path = resolve(resolveDir, given);
      if (kind === 'entry-point') return undefined;
      if (kind === 'dynamic-import') return { path, namespace: 'later' };
      // None of our modules has side effects, so importing an index does not pull in what is unused. The exception are
      // the entry files, which the code below imports for their side effects.
      return { path, sideEffects: basename(path) === 'main.ts' };
    });
    // A separate module, because what one file loads later may be needed immediately by another.
    onLoad({ filter: /./, namespace: 'later' }, ({ path }) => ({
      contents: `import ${JSON.stringify(join(ROOT, start))};\nexport * from ${JSON.stringify(path)};\n`,
      resolveDir: dirname(path),
    }));
  },
});

/**
 * esbuild splits code only into ES modules, which start 10 ms later than CommonJS modules on Node 20 and 24. So each
 * finished file is converted to a CommonJS module.
 */
async function finished(group, files) {
  if (group.page !== undefined) return withDocument(ROOT, files);
  if (group.start === undefined) return [...files, ...(await declarations(group.libraries))];
  return Promise.all(files.map(async ({ path, text }) => ({ path, contents: await asCommonJs(text) })));
}

/** The type declarations of the libraries that others import. */
async function declarations(libraries) {
  const { default: ts } = await import('typescript');
  return Promise.all(
    Object.entries(libraries).map(async ([name, source]) => {
      const text = await readFile(join(ROOT, source), 'utf8');
      const { outputText } = ts.transpileDeclaration(text, { fileName: source });
      return { path: join(ROOT, 'dist', `${name}.d.mts`), contents: outputText };
    }),
  );
}

/** The license texts of the bundled packages, which must accompany their code. */
async function licences(metafiles) {
  const inputs = metafiles.flatMap(({ inputs }) => Object.keys(inputs));
  const folders = inputs.flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? []);
  const texts = await Promise.all(
    [...new Set(folders)].sort().map(async (folder) => {
      const path = join(ROOT, folder);
      const { name, version, license, author, repository } = JSON.parse(
        await readFile(join(path, 'package.json'), 'utf8'),
      );
      const files = (await readdir(path)).filter((file) => /^(?:licen[cs]e|notice|copying)/i.test(file));
      const said = await Promise.all(files.sort().map((file) => readFile(join(path, file), 'utf8')));
      if (said.length === 0)
        said.push(
          `The package names these terms and brings no text of them. ` +
            `Its authors: ${author?.name ?? author ?? repository.url}.`,
        );
      return [`${name} ${version} (${license})`, ...said.map((text) => text.trim())].join('\n\n');
    }),
  );
  const introduction = 'These programs contain code of the packages below, under the terms that follow each.';
  return `${[introduction, ...texts].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

/**
 * Writes everything next to dist/ and then swaps it in, so that a program that starts meanwhile finds a complete build.
 */
async function swapIn(outputs) {
  const files = outputs.flatMap((output) => output.files);
  const dist = join(ROOT, 'dist');
  const fresh = join(ROOT, `dist.${process.pid}.tmp`);
  const old = join(ROOT, `dist.${process.pid}.old.tmp`);
  for (const { path, contents } of files) {
    const file = join(fresh, path.slice(dist.length + 1));
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, contents);
  }
  await writeFile(join(fresh, 'package.json'), '{ "type": "commonjs" }\n');
  await writeFile(join(fresh, 'LICENSES.txt'), await licences(outputs.map(({ metafile }) => metafile)));
  for (const name of GROUPS.flatMap(({ programs }) => Object.keys(programs)))
    await chmod(join(fresh, `${name}.js`), 0o755);
  await rename(dist, old).catch(() => undefined);
  await rename(fresh, dist);
  await rm(old, { recursive: true, force: true });
}
