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
 * The programs that begin alike, each with its name in dist/ and where it begins. Each group is bundled on its own:
 * what two groups have in common would else be cut into files of its own, and each file that a start has to read costs
 * time.
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
 * Bundles the programs into dist/: code split, no node_modules needed at run time. `built` is called after each build,
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
      // In the beginning the others are still to come.
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
    // Whole, and in one file of their own, beside the texts that packages carry as files.
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
  // Node knows them, but V8 reads the Unicode tables for each `\p{…}` in a file it loads, also in functions that are never
  // called. As calls of RegExp they cost only where they are used: they stand in functions, not at the top of a module.
  // The setting for these escapes alone misses those inside of brackets; this one covers every literal with the flag `u`.
  supported: { 'regexp-sticky-and-unicode-flags': false },
  minifySyntax: true,
  minifyWhitespace: true,
  chunkNames: 'chunks/[name]-[hash]',
  // Has a binary for each system, which need not be there.
  external: ['@napi-rs/keyring'],
  // The form that the packages around it require: as both forms at once, its exports would be set too late.
  alias: { '@opentelemetry/api': join(ROOT, 'node_modules/@opentelemetry/api/build/src/index.js') },
  define: { __VERSION__: JSON.stringify(version) },
});

/**
 * Code is split by who needs it, so what starting needs would be scattered over a dozen files, by which commands need
 * it too; each costs a host time. Here everything loaded later says that it needs all of it, which keeps it together. Worth
 * 9 of the 65 ms of CPU of a start with 200 servers, and 8 of the 60 of `switchyard brief` (Node 20).
 */
const startInOnePiece = (start) => ({
  name: 'start-in-one-piece',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^[./].*\.ts$/ }, ({ kind, path: given, resolveDir }) => {
      const path = resolve(resolveDir, given);
      if (kind === 'entry-point') return undefined;
      if (kind === 'dynamic-import') return { path, namespace: 'later' };
      // Nothing of ours does anything by being imported, so an index does not drag in what nobody asked it for. Only
      // where a program starts is imported for that alone, by what is added below.
      return { path, sideEffects: basename(path) === 'main.ts' };
    });
    // A file of its own, for what is loaded later by one may be needed at once by another.
    onLoad({ filter: /./, namespace: 'later' }, ({ path }) => ({
      contents: `import ${JSON.stringify(join(ROOT, start))};\nexport * from ${JSON.stringify(path)};\n`,
      resolveDir: dirname(path),
    }));
  },
});

/**
 * esbuild splits code only into ES modules, and those start 10 ms later than CommonJS modules, on Node 20 as on Node 24.
 * So each file is turned into a CommonJS module when it is done.
 */
async function finished(group, files) {
  if (group.page !== undefined) return withDocument(ROOT, files);
  if (group.start === undefined) return [...files, ...(await declarations(group.libraries))];
  return Promise.all(files.map(async ({ path, text }) => ({ path, contents: await asCommonJs(text) })));
}

/** The types of what others import. */
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

/** What the packages that are bundled want to be said wherever their code goes. */
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

/** Beside its place and then swapped in, so that a program that starts meanwhile finds a whole one. */
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
