import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { within } from './lib/processes.mjs';
import { median } from './lib/stats.mjs';

const SERVICE = fileURLToPath(new URL('yard-service.mjs', import.meta.url));
const SERVICES = 10;

/**
 * Switchyard with ten services of one branch, in milliseconds of wall time: how long until all are ready, beside the
 * same ten programs started directly and at once; how long until all are gone; and how long `brief` takes, beside `node
 * -e 0` and the git commands that it runs, one after the other.
 */
export async function measureYard({ entry, rounds, reads }) {
  const yard = await openYard(entry);
  try {
    const up = [];
    const own = [];
    const down = [];
    for (let round = -1; round < rounds; round++) {
      const alone = await startAlone(yard);
      const started = await timed(() => yard.run(['up', '--json']));
      const stopped = await timed(() => yard.run(['down', '--json']));
      if (round < 0) continue;
      own.push(alone);
      up.push(started);
      down.push(stopped);
    }
    await yard.run(['up', '--json']);
    const brief = await measureBrief(yard, reads);
    const bytes = (await yard.run(['brief', '--json'])).length;
    return {
      services: SERVICES,
      own: median(own),
      up: median(up),
      added: median(up.map((each, index) => each - own[index])),
      down: median(down),
      bytes,
      ...brief,
    };
  } finally {
    await yard.close();
  }
}

/** The configured filters; git exits with 1 if there are none. */
const FILTERS = ['config', '--show-scope', '--name-only', '-z', '--get-regexp', '^filter\\..*'];

async function measureBrief(yard, reads) {
  const node = [];
  const git = [];
  const brief = [];
  for (let round = -1; round < reads; round++) {
    const times = [
      await timed(() => run(process.execPath, ['-e', '0'], yard)),
      await timed(async () => {
        await run('git', FILTERS, yard, [0, 1]);
        await run('git', ['status', '--short'], yard);
      }),
      await timed(() => yard.run(['brief'])),
    ];
    if (round < 0) continue;
    node.push(times[0]);
    git.push(times[1]);
    brief.push(times[2]);
  }
  const [bare, gitAlone, whole] = [node, git, brief].map((each) => median(each));
  return { node: bare, git: gitAlone, brief: whole, ratio: (whole - gitAlone) / bare };
}

async function openYard(entry) {
  const cwd = mkdtempSync(join(tmpdir(), 'switchyard-bench-'));
  const home = mkdtempSync(join(tmpdir(), 'switchyard-bench-home-'));
  const env = { ...process.env, SWITCHYARD_HOME: home, GIT_CONFIG_GLOBAL: '/dev/null' };
  // Every start of Node would read those certificates, which takes longer than what is measured.
  delete env.NODE_EXTRA_CA_CERTS;
  const names = Array.from({ length: SERVICES }, (_, index) => `service-${index}`);
  const command = [process.execPath, SERVICE].map((word) => JSON.stringify(word)).join(' ');
  writeFileSync(
    join(cwd, 'switchyard.toml'),
    [
      '[project]',
      'name = "bench"',
      '[proxy]',
      `port = ${await freePort()}`,
      ...names.flatMap((name) => [`[services.${name}]`, `command = '${command}'`]),
      '',
    ].join('\n'),
  );
  const place = { cwd, env };
  const git = (...args) => execFileSync('git', args, { ...place, stdio: 'ignore' });
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('-c', 'user.name=bench', '-c', 'user.email=bench@example.invalid', 'commit', '-q', '-m', 'bench');
  const call = (args) => run(process.execPath, [entry, ...args], place);
  return {
    ...place,
    run: call,
    async close() {
      await call(['down', '--json']);
      await call(['proxy', 'stop', '--json']);
      for (const directory of [cwd, home]) rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** The same programs without Switchyard: from the first spawn until each has said that it listens. */
async function startAlone({ cwd, env }) {
  const ports = await Promise.all(Array.from({ length: SERVICES }, freePort));
  const began = performance.now();
  const children = ports.map((port) =>
    spawn(process.execPath, [SERVICE], {
      cwd,
      env: { ...env, PORT: String(port) },
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  );
  const exits = children.map((child) => new Promise((resolve) => child.once('exit', resolve)));
  const ready = children.map((child) => new Promise((resolve) => child.stdout.once('data', resolve)));
  try {
    await within(60_000, 'starting the services', Promise.all(ready));
    return performance.now() - began;
  } finally {
    for (const child of children) child.kill();
    await Promise.all(exits);
  }
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

async function timed(work) {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** Runs a program to its end, which must be with one of these codes; returns what it printed. */
function run(command, args, { cwd, env }, codes = [0]) {
  const ended = new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    let printed = '';
    child.stdout.on('data', (chunk) => (printed += chunk));
    child.stderr.on('data', (chunk) => (said += chunk));
    child.once('close', (code) => {
      if (codes.includes(code)) resolve(printed);
      else reject(new Error(`${args.join(' ')} ended with ${code}: ${printed}${said}`));
    });
  });
  return within(120_000, args.join(' '), ended);
}
