import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { cpuTime, memory } from './processes.mjs';

export const TOKEN = 'a-token-for-measuring-only';
const CANARY = fileURLToPath(new URL('../../test/servers/canary.mjs', import.meta.url));
const MARKER = 'SWITCHBOARD_BENCH_RUN';
const STARTED_MS = 30_000;

const isInstalled = (program, flag) => spawnSync(program, [flag]).status === 0;

/** Why replicas cannot be measured here; undefined if they can. */
export const MISSING = isInstalled('redis-server', '--version')
  ? isInstalled('haproxy', '-v')
    ? undefined
    : 'haproxy is not installed'
  : 'redis-server is not installed';

/** A real store, a real load balancer, and gateways that can be killed and restarted, all on this machine. */
export class ReplicaMachines {
  /** The values that the servers of all replicas have received, one per line. */
  record;
  replicas = [];
  #directory = mkdtempSync(join(tmpdir(), 'switchboard-replicas-'));
  #run = randomBytes(8).toString('hex');
  #entry;
  #redisPort;
  #redis;
  #proxy;
  #proxyPort;
  #children = new Set();

  constructor(entry) {
    this.#entry = entry;
    this.record = join(this.#directory, 'record');
    process.on('exit', () => this.#killAll());
  }

  async start(count) {
    this.#redisPort = await freePort();
    await this.startStore();
    for (let at = 0; at < count; at++) this.replicas.push(await this.#replica(at));
    await Promise.all(this.replicas.map((replica) => this.startReplica(replica)));
    this.#proxyPort = await freePort();
    await this.#startProxy();
  }

  get port() {
    return this.#proxyPort;
  }

  async startStore() {
    const settings = ['--port', this.#redisPort, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    this.#redis = this.#spawn('redis-server', settings.map(String));
    await untilOpen(this.#redisPort);
  }

  async killStore() {
    this.#redis.kill('SIGKILL');
    await once(this.#redis, 'exit');
  }

  async startReplica(replica) {
    const { directory, port } = replica;
    replica.child = this.#spawn(process.execPath, [this.#entry, '--http', String(port)], {
      cwd: directory,
      env: {
        ...process.env,
        SWITCHBOARD_STATE_DIR: join(directory, 'state'),
        SWITCHBOARD_ALLOW_PROJECT: '1',
      },
    });
    await until(async () => (await health(replica).catch(() => undefined))?.status === 'ok');
  }

  /** Ends a replica, and waits until it has ended. */
  async endReplica(replica, signal) {
    replica.child.kill(signal);
    await once(replica.child, 'exit');
  }

  /** The CPU time of all replicas and their servers so far, in nanoseconds, and their memory in bytes. */
  used() {
    const pids = [...this.processes()].filter((pid) => pid !== this.#redis.pid && pid !== this.#proxy?.pid);
    return {
      cpu: pids.reduce((sum, pid) => sum + (cpuTime(pid) ?? 0), 0),
      rss: this.replicas.map(({ child }) => memory(child.pid)?.rss ?? 0),
    };
  }

  /** How many sessions each replica has. */
  sessions() {
    return Promise.all(this.replicas.map(async (replica) => (await health(replica)).sessions));
  }

  /** Ends everything. Returns how many of its processes are left, and how many keys the store contains. */
  async stop() {
    await Promise.all(this.replicas.map((replica) => this.endReplica(replica, 'SIGTERM')));
    const keys = await this.#keys();
    this.#proxy?.kill('SIGKILL');
    this.#redis.kill('SIGKILL');
    await until(() => this.#children.size === 0);
    // Servers of killed replicas may need a moment to end.
    const left = await until(() => (this.processes().length === 0 ? 'none' : undefined), 10_000).catch(
      () => this.processes().length,
    );
    rmSync(this.#directory, { recursive: true, force: true });
    return { processes: left === 'none' ? 0 : left, keys };
  }

  /** The pids of everything that was started here, directly or not. */
  processes() {
    const mark = `${MARKER}=${this.#run}`;
    return readdirSync('/proc')
      .filter((pid) => /^\d+$/.test(pid))
      .filter((pid) => {
        try {
          return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(mark);
        } catch {
          return false;
        }
      })
      .map(Number);
  }

  async #replica(at) {
    const directory = join(this.#directory, `replica-${at}`);
    mkdirSync(directory);
    const canary = { command: process.execPath, args: [CANARY, `--record=${this.record}`] };
    writeFileSync(
      join(directory, 'switchboard.config.json'),
      JSON.stringify({
        mcpServers: { canary: { ...canary, isolation: 'shared', exposure: 'flat' } },
        http: { token: TOKEN },
        store: `redis://127.0.0.1:${this.#redisPort}`,
        logLevel: 'error',
      }),
    );
    return { directory, port: await freePort(), child: undefined };
  }

  async #startProxy() {
    const file = join(this.#directory, 'haproxy.cfg');
    const servers = this.replicas.map(({ port }, at) => `  server replica${at} 127.0.0.1:${port} check`);
    writeFileSync(
      file,
      [
        'defaults',
        '  mode http',
        '  timeout connect 2s',
        '  timeout client 1h',
        '  timeout server 1h',
        '  timeout queue 5s',
        'frontend clients',
        `  bind 127.0.0.1:${this.#proxyPort}`,
        '  default_backend replicas',
        'backend replicas',
        '  balance roundrobin',
        '  option httpchk',
        '  http-check send meth GET uri /readyz',
        '  http-check expect status 200',
        // A busy gateway responds late. If one has ended, the next request notices, and goes to another.
        '  timeout check 5s',
        '  default-server inter 1s fall 3 rise 1',
        '  option redispatch 1',
        '  retries 3',
        // Only requests that no replica has begun to handle, so a call never runs twice.
        '  retry-on conn-failure 503',
        ...servers,
        '',
      ].join('\n'),
    );
    this.#proxy = this.#spawn('haproxy', ['-f', file]);
    await untilOpen(this.#proxyPort);
  }

  /** How many keys are left in the store. */
  async #keys() {
    const { stdout } = spawnSync('redis-cli', ['-p', String(this.#redisPort), 'keys', '*'], {
      encoding: 'utf8',
    });
    return stdout.split('\n').filter((line) => line !== '');
  }

  #spawn(command, args, options = {}) {
    const child = spawn(command, args, {
      cwd: this.#directory,
      ...options,
      env: { ...(options.env ?? process.env), [MARKER]: this.#run },
      stdio: ['ignore', 'ignore', process.env.BENCH_STDERR ? 'inherit' : 'ignore'],
    });
    this.#children.add(child);
    child.once('exit', () => this.#children.delete(child));
    return child;
  }

  #killAll() {
    for (const child of this.#children) child.kill('SIGKILL');
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

function health({ port }) {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    request({ port, host: '127.0.0.1', path: '/status', headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      response.on('end', () => resolve(JSON.parse(text)));
      response.on('error', reject);
    })
      .on('error', reject)
      .end();
  });
}

async function untilOpen(port) {
  const { connect } = await import('node:net');
  await until(async () => {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return true;
    } catch {
      return false;
    } finally {
      socket.destroy();
    }
  });
}

async function until(condition, ms = STARTED_MS) {
  const end = performance.now() + ms;
  for (;;) {
    const value = await condition();
    if (value) return value;
    if (performance.now() > end) throw new Error('Waited too long.');
    await sleep(25);
  }
}
