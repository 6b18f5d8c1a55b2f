/**
 * The conformance suite of the protocol: installed once into a folder, with a Node that is new enough, and run from
 * there.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { ROOT } from './bundle.mjs';

const PACKAGES = { '@modelcontextprotocol/conformance': '0.2.0-alpha.12', node: '24' };
const FOLDER = join(ROOT, 'node_modules/.cache/conformance');
const SUITE = join(FOLDER, 'node_modules/@modelcontextprotocol/conformance');
const NODE = join(FOLDER, 'node_modules/node/bin/node');
const RUN_LIMIT_MS = 15 * 60_000;

/** Installs the suite if necessary, and returns its versions. */
export function installSuite(say) {
  const wanted = JSON.stringify(
    { private: true, dependencies: PACKAGES, allowScripts: { node: true } },
    null,
    2,
  );
  const manifest = join(FOLDER, 'package.json');
  const isThere =
    existsSync(manifest) && readFileSync(manifest, 'utf8') === wanted && nodeVersion() !== undefined;
  if (!isThere) {
    say(`Installing the suite into ${relative(ROOT, FOLDER)} (once)`);
    rmSync(FOLDER, { recursive: true, force: true });
    mkdirSync(FOLDER, { recursive: true });
    const flags = ['--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'];
    writeFileSync(manifest, wanted);
    const { status } = spawnSync('npm', ['install', ...flags], {
      cwd: FOLDER,
      stdio: ['ignore', 'ignore', 'inherit'],
      shell: process.platform === 'win32',
    });
    if (status !== 0) {
      rmSync(FOLDER, { recursive: true, force: true });
      throw new Error('The conformance suite could not be installed; npm says why above.');
    }
  }
  const { version } = JSON.parse(readFileSync(join(SUITE, 'package.json'), 'utf8'));
  return { suite: version, suiteNode: nodeVersion() };
}

function nodeVersion() {
  const { status, stdout } = spawnSync(NODE, ['--version'], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

/** The scenarios of one side in a requirement set: [{ scenario, scored, reason? }]. */
export function requiredScenarios(revision, side) {
  const { parse } = createRequire(join(FOLDER, 'package.json'))('yaml');
  const set = parse(readFileSync(join(SUITE, `requirements/${revision}.yaml`), 'utf8'));
  const scored = (set[side] ?? []).map((scenario) => ({ scenario, scored: true }));
  const others = (set.not_scored ?? []).filter(({ leg }) => leg === side);
  return [...scored, ...others.map(({ scenario, reason }) => ({ scenario, scored: false, reason }))];
}

/**
 * Runs server scenarios against an address: the whole requirement set, or one scenario of it. Returns the findings by
 * scenario; a missing scenario did not run to its end.
 */
export async function runServerScenarios({ revision, url, only }) {
  const { results } = await run(['server', '--url', url, ...selection(revision, only)], 'server-');
  return results;
}

/**
 * Runs one client scenario: the suite is the server, and starts the command with its address. As in the suite itself, a
 * client also fails because of a warning or its exit code.
 */
export async function runClientScenario({ revision, command, scenario }) {
  const args = ['client', '--command', command, ...selection(revision, scenario), '--timeout', '60000'];
  const { results, code, output } = await run(args, '');
  const found = results.get(scenario);
  if (found === undefined)
    return { ...NOT_RUN, failures: [`The suite ended early: ${output.trim().slice(-300)}`] };
  const pass = code === 0 && found.failed + found.warnings === 0;
  const end = code === 0 ? undefined : endOf(output);
  return { ...found, pass, failures: end === undefined ? found.failures : [...found.failures, end] };
}

/** The suite cannot select from a requirement set; a single scenario is run at its version instead. */
function selection(revision, only) {
  return only === undefined
    ? ['--requirements', revision]
    : ['--scenario', only, '--spec-version', revision, '--force'];
}

/** Stands in for a scenario without a result. */
export const NOT_RUN = {
  pass: false,
  passed: 0,
  failed: 0,
  warnings: 0,
  failures: ['It did not run.'],
  checks: {},
};

/** Why the suite rejects a client for reasons other than its checks. */
function endOf(output) {
  if (output.includes('TIMED OUT')) return 'The client ran into the time limit.';
  return output.includes('CLIENT EXITED WITH ERROR') ? 'The client itself was not content.' : undefined;
}

async function run(args, prefix) {
  const into = mkdtempSync(join(tmpdir(), 'switchboard-conformance-'));
  const child = spawn(NODE, [join(SUITE, 'dist/index.js'), ...args, '--output-dir', into], {
    cwd: into,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const limit = setTimeout(() => child.kill('SIGKILL'), RUN_LIMIT_MS);
  const cleanUp = () => {
    child.kill('SIGKILL');
    rmSync(into, { recursive: true, force: true });
  };
  process.once('exit', cleanUp);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const code = await new Promise((resolve) => child.once('close', resolve));
  clearTimeout(limit);
  const results = new Map();
  for (const file of readdirSync(into, { recursive: true }).sort()) {
    const name = /^(.*)-\d{4}-\d\d-\d\dT[\d-]+Z[/\\]checks\.json$/.exec(file)?.[1];
    if (name === undefined) continue;
    const scenario = name.replaceAll('\\', '/').slice(prefix.length);
    results.set(scenario, verdict(JSON.parse(readFileSync(join(into, file), 'utf8'))));
  }
  process.off('exit', cleanUp);
  cleanUp();
  return { results, code, output };
}

function verdict(list) {
  const of = (status) => list.filter((check) => check.status === status);
  const [failed, warnings] = [of('FAILURE'), of('WARNING')];
  const say = ({ name, errorMessage, description }) => `${name}: ${errorMessage ?? description}`;
  return {
    pass: failed.length === 0,
    passed: of('SUCCESS').length,
    failed: failed.length,
    warnings: warnings.length,
    failures: [...failed, ...warnings].map(say),
    checks: Object.fromEntries(list.map(({ id, name, status }) => [`${id} ${name}`, status])),
  };
}
