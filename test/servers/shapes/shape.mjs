// The ways in which real servers are started, each as one program:
//
//   node shape.mjs <shape> [-- command args…]
//
// The command runs as the innermost process, on the stdio of the outermost: `node shape.mjs double-fork -- node
// server.mjs` is an MCP server with an awkward family. Without a command the innermost process just stays.
// Every process of a shape says `ready <role> <pid>` on stderr, the innermost (role `leaf`) when the shape is
// complete. Nothing here ends when stdin closes, unless the command does.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const self = fileURLToPath(import.meta.url);
const [shape = '', ...rest] = process.argv.slice(2);
const given = rest[0] === '--' ? rest.slice(1) : [];
const leaf = given.length > 0 ? given : [process.execPath, self, 'leaf'];
// A leaf that has to become an orphan waits for that before it is ready.
const orphanLeaf = given.length > 0 ? given : [process.execPath, self, 'orphan'];

const say = (role) => process.stderr.write(`ready ${role} ${process.pid}\n`);
const stay = () => setInterval(() => undefined, 1 << 30);
const run = (command, options = {}) => spawn(command[0], command.slice(1), { stdio: 'inherit', ...options });
/** Starts the inner process and leaves it behind. */
const abandon = (command, options = {}) =>
  run(command, { env: { ...process.env, SHAPE_PARENT: String(process.pid) }, ...options }).unref();
const step = (name, command) => [process.execPath, self, name, '--', ...command];
/** Ends when the inner process ends, as it ended. */
const follow = (child) =>
  child.on('exit', (code, signal) =>
    signal === null ? process.exit(code) : process.kill(process.pid, signal),
  );
const ignore = (...signals) => signals.forEach((signal) => process.on(signal, () => undefined));

const shapes = {
  // One process.
  plain: () => (given.length > 0 ? follow(run(given)) : (say('leaf'), stay())),

  // sh → leaf
  'sh-wrapper': () => {
    follow(run(['/bin/sh', '-c', 'echo "ready sh $$" >&2; "$@"; exit $?', 'sh', ...leaf]));
    say('leader');
  },

  // npx → sh → leaf
  'npm-like': () => {
    say('leader');
    follow(run(step('npm-like-inner', leaf)));
  },
  'npm-like-inner': () => {
    say('npx');
    follow(run(['/bin/sh', '-c', 'echo "ready sh $$" >&2; "$@"; exit $?', 'sh', ...leaf]));
  },

  // leader → leaf, and the leader is gone
  'leader-exits': () => {
    say('leader');
    abandon(orphanLeaf);
  },

  // leader → shell with job control → leaf in a process group of its own, in the same session
  'job-control': () => {
    say('leader');
    const bash = ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash'].find((path) => existsSync(path));
    // dash refuses job control without a terminal.
    follow(
      bash === undefined
        ? run(['perl', '-e', 'setpgrp; exec @ARGV', ...leaf])
        : run([bash, '-c', 'echo "ready bash $$" >&2; set -m; "$@" & wait $!', 'bash', ...leaf]),
    );
  },

  // leader → leaf in a session of its own
  setsid: () => {
    say('leader');
    follow(run(leaf, { detached: true }));
  },

  // leader → leaf in a session of its own, and the leader is gone
  'setsid-orphan': () => {
    say('leader');
    abandon(orphanLeaf, { detached: true });
  },

  // leader → middle in a session of its own → leaf in that session, and the middle is gone
  'double-fork': () => {
    say('leader');
    run(step('double-fork-middle', orphanLeaf), { detached: true });
    stay();
  },
  'double-fork-middle': () => {
    say('middle');
    abandon(orphanLeaf);
  },

  // Only SIGKILL helps.
  'ignores-term': () => {
    ignore('SIGTERM', 'SIGINT', 'SIGHUP');
    if (given.length > 0) follow(run(given));
    else say('leaf');
    stay();
  },

  // Answers SIGTERM with a copy of itself, a few times.
  'forks-on-term': () => {
    process.on('SIGTERM', () => {
      const copies = Number(process.env['SHAPE_COPIES'] ?? 3);
      const env = { ...process.env, SHAPE_COPIES: String(copies - 1) };
      if (copies > 0) abandon([process.execPath, self, shape], { detached: true, env });
      process.exit(0);
    });
    say('leaf');
    stay();
  },

  // leader → leaf in a session of its own with an empty environment: only its parent gives it away.
  'scrubs-environment': () => {
    say('leader');
    follow(run(leaf, { detached: true, env: {} }));
  },

  // leader → leaf in the same session with an empty environment, and the leader ends with its stdin.
  'own-environment': () => {
    say('leader');
    run(leaf, { env: {}, stdio: ['ignore', 'inherit', 'inherit'] });
    process.stdin.on('end', () => process.exit()).resume();
  },

  leaf: () => {
    say('leaf');
    stay();
  },
  orphan: () => {
    const parent = Number(process.env['SHAPE_PARENT']);
    const timer = setInterval(() => {
      if (process.ppid === parent) return;
      clearInterval(timer);
      say('leaf');
      stay();
    }, 5);
  },
};

const start = shapes[shape];
if (start === undefined) {
  process.stderr.write(`shape.mjs: no shape "${shape}"; one of ${Object.keys(shapes).join(', ')}\n`);
  process.exit(64);
}
start();
