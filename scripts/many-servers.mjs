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
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, homedir, platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { ROOT } from './lib/bundle.mjs';
import { NPM_SERVERS } from './lib/npm-servers.mjs';

/** In milliseconds. */
const ALONE = 120_000;
const TOGETHER = 300_000;
const ENOUGH = 20;
const HELLO = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'many-servers', version: '1.0.0' },
};

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '1' },
    only: { type: 'string' },
    cache: { type: 'string', default: join(cacheDirectory(), 'mcp-switchboard-many-servers') },
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

/** Everything that was started, so that nothing is left behind. */
const started = new Set();
process.once('exit', () => started.forEach(end));
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));

const servers = [];
for (const server of NPM_SERVERS.filter(({ name }) => wanted.includes(name))) {
  const command = install(server);
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

/** Installs a server where that has not been done. Returns how it is started; undefined where it cannot be installed. */
function install({ name, package: wantedPackage }) {
  const directory = join(options.cache, wantedPackage.replace(/[^\w.@-]/g, '+'));
  const at = wantedPackage.lastIndexOf('@');
  const packageName = wantedPackage.slice(0, at);
  const installed = join(directory, 'node_modules', packageName, 'package.json');
  if (!existsSync(installed)) {
    say(`Installing ${wantedPackage}`);
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'package.json'), '{"private":true}');
    const npm = platform() === 'win32' ? 'npm.cmd' : 'npm';
    const { status, stderr } = spawnSync(
      npm,
      ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-save', wantedPackage],
      { cwd: directory, encoding: 'utf8', shell: platform() === 'win32', timeout: 600_000 },
    );
    if (status !== 0) {
      rmSync(directory, { recursive: true, force: true });
      say(
        `  ${name} cannot be installed: ${stderr.split('\n').find((line) => /error/.test(line)) ?? status}`,
      );
      return undefined;
    }
  }
  const { bin } = JSON.parse(readFileSync(installed, 'utf8'));
  const file = typeof bin === 'string' ? bin : Object.values(bin ?? {})[0];
  if (file === undefined) {
    say(`  ${name} has no command`);
    return undefined;
  }
  return { command: process.execPath, file: join(directory, 'node_modules', packageName, file) };
}

/** Starts a server as a host would and asks it for its tools. */
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

/** Starts the gateway over all servers, lists their suites, and asks for the tools of all of them at the same moment. */
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
    // Nothing is remembered from earlier runs.
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

/** Asks a suite for its tools, again and again while it says that its server is still starting. */
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

/** A program that speaks JSON-RPC line by line. */
function connect(command, args, cwd, env) {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: 'pipe',
    detached: platform() !== 'win32',
  });
  started.add(child);
  const waiting = new Map();
  let lastId = 0;
  let stderr = '';
  const giveUp = (why) => {
    for (const { reject } of waiting.values()) reject(new Error(why));
    waiting.clear();
  };
  child.stderr.on('data', (chunk) => (stderr = (stderr + chunk).slice(-2000)));
  child.stdin.on('error', () => undefined);
  child.once('error', (error) => giveUp(error.message));
  child.once('exit', (code, signal) => giveUp(`exited with ${code ?? signal}`));
  createInterface({ input: child.stdout }).on('line', (line) => {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return;
    }
    const asked = message.method === undefined ? waiting.get(message.id) : undefined;
    if (asked === undefined) return;
    waiting.delete(message.id);
    if (message.error) asked.reject(new Error(JSON.stringify(message.error)));
    else asked.resolve(message.result);
  });
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  return {
    child,
    ask: (method, params) =>
      new Promise((resolve, reject) => {
        waiting.set(++lastId, { resolve, reject });
        send({ id: lastId, method, params });
      }),
    tell: (method) => send({ method }),
    lastWords: () => stderr.trim().split('\n').slice(-2).join(' | ').slice(0, 200),
    /** Lets it clean up after itself first. */
    close: async () => {
      const exited = new Promise((resolve) => child.once('exit', resolve));
      child.stdin.end();
      await within(15_000, exited).catch(() => undefined);
      end(child);
    },
  };
}

/** Ends a program and what it has started. */
function end(child) {
  started.delete(child);
  try {
    if (platform() === 'win32') spawnSync('taskkill', ['/PID', String(child.pid), '/T', '/F']);
    else process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It is gone.
  }
}

function within(ms, promise) {
  let timer;
  const timeout = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms / 1000} s`)), ms);
  });
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}

function cacheDirectory() {
  if (process.env.XDG_CACHE_HOME) return process.env.XDG_CACHE_HOME;
  if (platform() === 'darwin') return join(homedir(), 'Library', 'Caches');
  if (platform() === 'win32') return process.env.LOCALAPPDATA ?? tmpdir();
  return join(homedir(), '.cache');
}
