/**
 * `npm run many-servers`: many real servers from npm behind one gateway, all asked at the same moment.
 *
 *   node scripts/many-servers.mjs [--runs N] [--only NAME,NAME] [--cache DIR] [--json]
 *
 * --runs   how often the gateway is started over all of them; default 1. Every run begins without any memory
 * --only   some of the servers in scripts/lib/npm-servers.mjs
 * --cache  where the servers are installed, on the first run only; default a directory in the cache of the system
 * --json   print the outcome as JSON
 *
 * First each server is started alone, one after the other. One that answers is healthy, and the gateway has to get an
 * answer from it too. Prints which answered, after how many seconds, and the description of each suite. The exit code
 * is 1 when a healthy server is called dead, and 2 when fewer than 20 are healthy (with --only: when none is).
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from './lib/bundle.mjs';
import { connect, end, endAll, HELLO, install, SERVER_CACHE, within } from './lib/npm-server-runs.mjs';
import { NPM_SERVERS } from './lib/npm-servers.mjs';

/** Time limit for a server alone, in milliseconds. */
const ALONE = 120_000;
const TOGETHER = 300_000;
const ENOUGH = 20;

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '1' },
    only: { type: 'string' },
    cache: { type: 'string', default: SERVER_CACHE },
    json: { type: 'boolean', default: false },
  },
});
const wanted = options.only?.split(',') ?? NPM_SERVERS.map(({ name }) => name);
const unknown = wanted.find((name) => !NPM_SERVERS.some((server) => server.name === name));
const runs = Number(options.runs);
if (unknown !== undefined || !Number.isInteger(runs) || runs < 1) {
  console.error(unknown === undefined ? '--runs takes a number.' : `No server is called ${unknown}.`);
  process.exit(2);
}
const say = (text) => console.error(text);
const seconds = (ms) => `${(ms / 1000).toFixed(1).padStart(5)} s`;

process.once('exit', endAll);
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));

const servers = [];
for (const server of NPM_SERVERS.filter(({ name }) => wanted.includes(name))) {
  const command = install(server, options.cache, say);
  if (command !== undefined) servers.push({ ...server, ...command });
}

say(`\nEach alone, one after the other:`);
const healthy = [];
for (const server of servers) {
  const alone = await startAlone(server);
  say(`  ${server.name.padEnd(12)} ${alone.ok ? seconds(alone.ms) : `no answer: ${alone.why}`}`);
  if (alone.ok) healthy.push({ ...server, alone: alone.ms });
}

const report = { cores: cpus().length, installed: servers.length, healthy: healthy.length, runs: [] };
for (let run = 1; run <= runs; run++) {
  say(`\nRun ${run}: ${healthy.length} healthy servers behind one gateway, ${report.cores} cores`);
  report.runs.push(await runTogether(healthy));
}
if (options.json) console.log(JSON.stringify(report, null, 2));

const dead = report.runs.flatMap(({ answers }) => answers.filter(({ ok }) => !ok));
say(
  `\n${healthy.length} of ${servers.length} are healthy; called dead in ${runs} ${runs === 1 ? 'run' : 'runs'}: ${dead.length}`,
);
const tooFew = healthy.length < (options.only === undefined ? ENOUGH : 1);
process.exit(dead.length > 0 ? 1 : tooFew ? 2 : 0);

/** Starts a server as a host would and lists its tools. */
async function startAlone({ command, file, args = [], env = {} }) {
  const directory = mkdtempSync(join(tmpdir(), 'many-servers-'));
  const began = performance.now();
  const peer = connect(command, [file, ...args], directory, env);
  try {
    const initialized = peer.ask('initialize', HELLO);
    await within(ALONE, initialized);
    peer.tell('notifications/initialized');
    await within(ALONE, peer.ask('tools/list', {}));
    return { ok: true, ms: performance.now() - began };
  } catch (error) {
    return { ok: false, why: `${error.message} ${peer.lastWords()}`.trim() };
  } finally {
    end(peer.child);
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Starts the gateway with all servers, lists their suites, and requests the tools of all of them at the same time. */
async function runTogether(all) {
  const directory = mkdtempSync(join(tmpdir(), 'many-servers-'));
  const config = join(directory, 'switchboard.config.json');
  const entries = all.map(({ name, command, file, args = [], env = {} }) => [
    name,
    { command, args: [file, ...args], env },
  ]);
  writeFileSync(config, JSON.stringify({ mcpServers: Object.fromEntries(entries), discoverGlobs: [] }));
  const peer = connect(
    process.execPath,
    [join(ROOT, 'dist/index.js'), '--config', config, '--log-level', 'error'],
    directory,
    // Starts without any memory of earlier runs.
    { SWITCHBOARD_STATE_DIR: join(directory, 'state'), XDG_CONFIG_HOME: join(directory, 'config') },
  );
  try {
    await within(TOGETHER, peer.ask('initialize', HELLO));
    peer.tell('notifications/initialized');
    const { tools } = await within(TOGETHER, peer.ask('tools/list', {}));
    const began = performance.now();
    const answers = await Promise.all(
      all.map(async ({ name, alone }) => {
        const description =
          tools.find((tool) => tool.name === `${name}_suite`)?.description ?? '(not listed)';
        const { ok, text, asked } = await introspect(peer, `${name}_suite`);
        const ms = performance.now() - began;
        const why = ok ? '' : `  CALLED DEAD: ${text.slice(0, 300)}`;
        const again = asked > 1 ? ` (asked ${asked} times)` : '';
        say(`  ${name.padEnd(12)} ${seconds(ms)} (alone ${seconds(alone).trim()})${again}${why}`);
        return { name, ok, ms: Math.round(ms), alone: Math.round(alone), asked, description, why };
      }),
    );
    say('\n  What the model reads of each:');
    for (const { name, description } of answers) say(`  ${name.padEnd(12)} ${description}`);
    return { seconds: Math.round((performance.now() - began) / 100) / 10, answers };
  } finally {
    await peer.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Requests the tools of a suite, again and again while it reports that its server is still starting. */
async function introspect(peer, name) {
  const until = performance.now() + TOGETHER;
  for (let asked = 1; ; asked++) {
    const answer = peer.ask('tools/call', { name, arguments: { action: 'introspect' } });
    const result = await within(TOGETHER, answer).catch((error) => failed(error));
    const text = result.content?.map((part) => part.text ?? '').join('\n') ?? '';
    const starting = result.isError === true && /still starting/.test(text);
    if (!starting || performance.now() > until) return { ok: result.isError !== true, text, asked };
  }
}

function failed(error) {
  return { isError: true, content: [{ text: error.message }] };
}
