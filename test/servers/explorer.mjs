/**
 * Tries things that a sandbox may forbid, and says what came of each.
 *
 *   node test/servers/explorer.mjs
 *
 * Tools: write {path} writes a file; read {path} reads one; connect {port} connects to this machine; processes {} lists
 * the processes it sees; leave {} starts a process that outlives it, with a session and an environment of its own, and
 * gives its command line.
 */
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { serve, takes } from './lib/server.mjs';

const attempt = (act) => {
  try {
    return act();
  } catch (error) {
    return `failed: ${error.code ?? error.message}`;
  }
};

serve({
  name: 'explorer',
  tools: {
    write: {
      description: 'Writes a file.',
      inputSchema: takes({ path: 'string' }, ['path']),
      run: ({ path }) => attempt(() => (writeFileSync(path, 'written'), 'written')),
    },
    read: {
      description: 'Reads a file.',
      inputSchema: takes({ path: 'string' }, ['path']),
      run: ({ path }) => attempt(() => readFileSync(path, 'utf8')),
    },
    connect: {
      description: 'Connects to a port of this machine.',
      inputSchema: takes({ port: 'integer' }, ['port']),
      run: ({ port }) =>
        new Promise((resolve) => {
          const socket = connect(port, '127.0.0.1');
          socket.once('connect', () => resolve('connected') || socket.destroy());
          socket.once('error', (error) => resolve(`failed: ${error.code}`));
        }),
    },
    processes: {
      description: 'Counts the processes it sees.',
      inputSchema: takes({}),
      run: () => String(readdirSync('/proc').filter((name) => /^\d+$/.test(name)).length),
    },
    leave: {
      description: 'Leaves a process behind.',
      inputSchema: takes({ mark: 'string' }, ['mark']),
      run: ({ mark }) => {
        const script = `process.title; setTimeout(() => undefined, 60000, ${JSON.stringify(mark)})`;
        spawn(process.execPath, ['-e', script], { detached: true, stdio: 'ignore', env: {} }).unref();
        return 'left';
      },
    },
  },
});
