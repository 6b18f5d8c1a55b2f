/**
 * `npm run test:windows`: runs the tests that work on Windows, or in Wine. Arguments select test files by a part of
 * their path.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './lib/bundle.mjs';
import { bundleTests } from './lib/windows-bundle.mjs';
import { consoleTests } from './lib/windows-console.mjs';
import { windowsMachine } from './lib/windows-machine.mjs';

/** Folders whose unit tests run on Windows. */
const UNIT = [
  ...['app', 'cli', 'config', 'exposure', 'gateway', 'hosts', 'management', 'process', 'shared', 'wire'],
];
/** Tests that do not, with the reason: part of a path, or of the text of a file. */
const LEFT_OUT = [
  { path: 'src/cli/switchyard/', why: 'Switchyard does not run on Windows' },
  { text: /\bvi\b[^'\n]*\} from 'vitest'|\bexpect\.poll\b/, why: 'it controls the clock with vitest' },
];
const LEFT_OUT_IN_WINE = [
  { text: / from 'esbuild'/, why: 'it needs esbuild, which is installed for Linux only' },
  { path: 'src/shared/file-lock.test.ts', why: 'Wine does not follow links to folders' },
  { path: 'src/shared/regular-file.test.ts', why: 'Wine does not follow links' },
];
/** Time limits for one test, and for all tests of one process, in milliseconds. */
const TEST_MS = 60_000;
const jobMs = (files) => 300_000 + 30_000 * files;
const OUTPUT = join(ROOT, 'node_modules/.cache/windows/run');

const inWine = process.platform !== 'win32';
const wanted = process.argv.slice(2);
let stopping = false;
const { machine, reason } = await windowsMachine();
if (machine === undefined) {
  console.log(`test:windows was skipped: ${reason}`);
} else {
  let failed;
  const stop = () => {
    stopping = true;
    void machine.dispose().then(() => process.exit(130));
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  try {
    failed = await runAll(machine);
  } finally {
    await machine.dispose();
  }
  process.exitCode = failed ? 1 : 0;
}

/** Whether anything failed. */
async function runAll(machine) {
  const { what, path, run, terminal } = machine;
  const began = Date.now();
  rmSync(OUTPUT, { recursive: true, force: true });
  mkdirSync(OUTPUT, { recursive: true });
  const bundles = await bundleTests(testFiles(), { outdir: join(OUTPUT, 'tests'), windowsPath: path });
  console.log(`${bundles.size} test files, ${what}`);
  const total = { pass: 0, skip: 0, fail: 0 };
  const add = (job, started, tests, problems) => {
    const passed = tests.filter((test) => test.state === 'pass').length;
    total.pass += passed;
    total.fail += problems.length;
    total.skip += tests.filter((test) => test.state !== 'pass' && test.state !== 'fail').length;
    const seconds = ((Date.now() - started) / 1000).toFixed(1);
    console.log(
      `${problems.length === 0 ? 'ok  ' : 'FAIL'} ${job} (${passed} of ${tests.length}, ${seconds} s)`,
    );
    for (const test of problems) console.log(`     ${test.name}\n${indented(test.problems.join('\n'))}`);
  };
  if (terminal !== undefined && isWanted('console')) {
    const started = Date.now();
    const tests = await consoleTests(machine, { folder: join(OUTPUT, 'console'), timeout: TEST_MS });
    add('console', started, tests, tests.filter(isFailure));
  }
  for (const [job, files] of jobsOf(bundles)) {
    // Running Node again would start Wine again.
    if (stopping) break;
    const name = job.replaceAll('/', '-');
    const results = join(OUTPUT, `${name}.jsonl`);
    const output = join(OUTPUT, `${name}.txt`);
    const state = join(OUTPUT, `${name}-state`);
    const started = Date.now();
    const end = await run(
      [
        path(join(ROOT, 'scripts/lib/windows-runner.mjs')),
        path(results),
        String(TEST_MS),
        ...files.map(path),
      ],
      {
        output,
        timeout: jobMs(files.length),
        env: {
          SWITCHBOARD_STATE_DIR: path(join(state, 'state')),
          XDG_CONFIG_HOME: path(join(state, 'config')),
          SWITCHBOARD_ALLOW_PROJECT: '1',
          TEST_NAME: process.env.TEST_NAME ?? '',
        },
      },
    );
    const tests = readResults(results);
    const problems = tests.filter(isFailure);
    if (end !== 0 || tests.length === 0) {
      const last = `the last test that ran: ${tests.at(-1)?.name ?? 'none'}`;
      problems.push({ name: `it did not finish (${end})`, problems: [last, lastOf(output)] });
    }
    add(job, started, tests, problems);
  }
  const seconds = Math.round((Date.now() - began) / 1000);
  console.log(`\n${total.pass} passed, ${total.fail} failed, ${total.skip} skipped in ${seconds} s, ${what}`);
  return total.fail > 0;
}

/** What runs in one process: a file that starts processes, or a folder of files that do not, which is faster. */
function jobsOf(bundles) {
  const jobs = new Map();
  for (const [file, bundle] of bundles) {
    const folder = /^src\/(?!process)\w+/.exec(file)?.[0];
    const job = folder ?? file;
    jobs.set(job, [...(jobs.get(job) ?? []), bundle]);
  }
  return jobs;
}

function testFiles() {
  const all = [...filesIn('test/windows'), ...UNIT.flatMap((folder) => filesIn(join('src', folder)))];
  return all
    .map((file) => file.replaceAll('\\', '/'))
    .filter(isWanted)
    .filter((file) => {
      const why = reasonToLeaveOut(file);
      if (why !== undefined) console.log(`skip ${file}: ${why}`);
      return why === undefined;
    });
}

function isWanted(name) {
  return wanted.length === 0 || wanted.some((part) => name.includes(part));
}

function reasonToLeaveOut(file) {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const rules = [...LEFT_OUT, ...(inWine ? LEFT_OUT_IN_WINE : [])];
  return rules.find((rule) => file.startsWith(rule.path) || rule.text?.test(text))?.why;
}

function filesIn(folder) {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => join(folder, file))
    .sort();
}

function isFailure({ state }) {
  return state === 'fail';
}

function readResults(file) {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

function lastOf(file) {
  return existsSync(file) ? readFileSync(file, 'utf8').slice(-2000) : '';
}

function indented(text) {
  return text
    .split('\n')
    .slice(0, 12)
    .map((line) => `       ${line}`)
    .join('\n');
}
