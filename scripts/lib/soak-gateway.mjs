/** A gateway under test: the built program in a directory of its own, with servers that can be killed and changed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { startScriptedHttp } from '../../test/servers/scripted-http.mjs';
import { ROOT } from './bundle.mjs';
import { callModern, checkEcho, envelope, initialize, MODERN, suiteCall } from './soak-clients.mjs';
import { processesWith, sample } from './soak-samples.mjs';

const server = (name, ...args) => ({
  command: process.execPath,
  args: [join(ROOT, 'test/servers', `${name}.mjs`), ...args],
});

/** The configurations, used in turn. The servers that clients use stay the same. */
const CHANGES = [
  {},
  { extra: server('echo', '--name=extra') },
  { extra: server('echo', '--name=extra', '--changed') },
  { missing: { command: join(ROOT, 'there-is-no-such-program') } },
];

/** Remote servers, by name. */
const remotes = {
  remote: await startScriptedHttp({ modern: false, events: false }),
  remote_modern: await startScriptedHttp({ modern: true, events: true }),
};
const REMOTE_ENTRIES = Object.fromEntries(Object.entries(remotes).map(([name, { url }]) => [name, { url }]));

export function closeRemotes() {
  return Promise.all(Object.values(remotes).map((remote) => remote.close()));
}

/** The servers that are in every configuration. */
export const SERVERS = ['shared', 'own', 'each', ...Object.keys(remotes)];

const REPORT_MEMORY = pathToFileURL(join(ROOT, 'scripts/lib/report-memory.mjs')).href;
/**
 * V8 keeps compiling for hours, which takes 1 to 2 MB an hour at this load, while heap snapshots show nothing else that
 * grows. It ends at the size of the program, but until then it would hide a leak of that size.
 */
const NO_MACHINE_CODE = ['--no-opt', '--no-sparkplug'];
/**
 * The young generation, in MB. The process keeps its memory even when it is empty, and V8 changes its size between 1 and
 * 16 MB, which would hide everything else. Objects that survive leave it, so a leak still shows.
 */
const YOUNG = ['--min-semi-space-size=4', '--max-semi-space-size=4'];
/** How long collecting all garbage may take, in milliseconds. */
const COLLECT_MS = 30_000;

/** Abandoned sessions end soon; but on a busy machine, a client may need seconds for its next step. */
const SESSION_IDLE_MS = 20_000;

const TOKEN = 'token-of-the-soak-0123456789';

function kill(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}

/** Everything that was started, to be ended on exit, whatever happens. */
const started = new Set();
process.once('exit', () => started.forEach((gateway) => gateway.dispose()));

class SoakGateway {
  constructor(args) {
    started.add(this);
    this.marker = `soak-${process.pid}-${Math.random().toString(36).slice(2)}`;
    this.directory = mkdtempSync(join(tmpdir(), 'switchboard-soak-'));
    this.changes = 0;
    this.kills = 0;
    this.log = '';
    this.configure();
    this.memoryFile = join(this.directory, 'memory');
    const options = [...NO_MACHINE_CODE, ...YOUNG, '--expose-gc', '--import', REPORT_MEMORY];
    this.child = this.#start(options, ['--log-level', 'warn', ...args]);
    this.child.stdin.on('error', () => undefined);
    this.child.stderr.setEncoding('utf8').on('data', (text) => (this.log = (this.log + text).slice(-20_000)));
    this.exited = once(this.child, 'exit');
  }

  /** Starts `switchboard` in its directory. */
  program(...args) {
    return this.#start([], args);
  }

  #start(options, args) {
    return spawn(process.execPath, [...options, join(ROOT, 'dist/index.js'), ...args], {
      cwd: this.directory,
      env: {
        ...process.env,
        SWITCHBOARD_SOAK: this.marker,
        SOAK_MEMORY: this.memoryFile,
        SWITCHBOARD_ALLOW_PROJECT: '1',
        SWITCHBOARD_STATE_DIR: join(this.directory, '.state'),
        XDG_CONFIG_HOME: join(this.directory, '.config'),
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
  }

  configure() {
    const servers = {
      shared: { ...server('echo'), isolation: 'shared' },
      own: server('echo'),
      each: { ...server('echo'), isolation: 'call' },
      ...REMOTE_ENTRIES,
      ...CHANGES[this.changes % CHANGES.length],
    };
    const settings = {
      http: { token: TOKEN, sessionIdleMs: SESSION_IDLE_MS, maxSessions: 1000 },
      discoverGlobs: [],
    };
    const file = join(this.directory, 'switchboard.config.json');
    writeFileSync(file, JSON.stringify({ mcpServers: servers, ...settings }));
  }

  /** Writes the next configuration and has it reloaded. */
  change() {
    this.changes++;
    this.configure();
    this.child.kill('SIGHUP');
  }

  /** Returns to the first configuration. */
  reset() {
    this.changes = -1;
    this.change();
  }

  /** Kills one of its servers without warning. */
  killServer() {
    const servers = this.processes().filter(({ command }) => command.includes('test/servers/'));
    if (servers.length > 0) kill(servers[this.kills++ % servers.length].pid);
  }

  /** The gateway and everything it has started. */
  processes() {
    return processesWith(this.marker);
  }

  sample() {
    return sample(this.child.pid);
  }

  /** Collects its garbage; returns the memory that is left, in MB. */
  async collect() {
    rmSync(this.memoryFile, { force: true });
    this.child.kill('SIGUSR2');
    for (const until = performance.now() + COLLECT_MS; ; await sleep(50)) {
      try {
        return JSON.parse(readFileSync(this.memoryFile, 'utf8'));
      } catch (error) {
        if (performance.now() > until) throw error;
      }
    }
  }

  /** Ends it. Returns what should not be: an exit code other than 0, and leftover processes. */
  async stop() {
    this.end();
    const [code, signal] = await this.exited;
    const left = this.processes().map(({ pid, command }) => `process ${pid}: ${command}`);
    this.dispose();
    return [...(code === 0 ? [] : [`exit ${code ?? signal}: ${this.log.slice(-500)}`]), ...left];
  }

  dispose() {
    started.delete(this);
    for (const { pid } of this.processes()) kill(pid);
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** A gateway that clients connect to over HTTP. */
export class HttpSoakGateway extends SoakGateway {
  constructor() {
    super(['--http', '0', '--json']);
  }

  /** Resolves when it has printed where it listens. */
  ready() {
    return new Promise((resolve, reject) => {
      void this.exited.then(() => reject(new Error(`The gateway has ended: ${this.log}`)));
      let text = '';
      this.child.stdout.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
        const port = /"url": *"http:\/\/[^"]*:(\d+)\/mcp"/.exec(text)?.[1];
        if (port === undefined) return;
        this.target = { port: Number(port), token: TOKEN };
        resolve();
      });
    });
  }

  call(text, name) {
    return callModern(this.target, name, text);
  }

  /** Runs some work as a client with its own token, which is revoked while that client is still connected. */
  async withRevokedToken(name, work) {
    const { token } = JSON.parse(await this.#command('token', 'create', name, '--json'));
    let revoked;
    const revoke = () => (revoked ??= this.#command('token', 'revoke', name));
    try {
      await work({ ...this.target, token }, revoke);
    } finally {
      // If a server was killed, the client stopped early, and its servers would live as long as its token.
      await revoke();
    }
  }

  async #command(...args) {
    const child = this.program(...args);
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`${args.join(' ')} exited with ${code}: ${stderr.slice(-500)}`);
    return stdout;
  }

  end() {
    this.child.kill('SIGTERM');
  }
}

/** A gateway for the host that starts it, which uses this protocol version. */
export class StdioSoakGateway extends SoakGateway {
  #version;
  #waiting = new Map();
  #lastId = 0;

  constructor(version) {
    super([]);
    this.#version = version;
    createInterface({ input: this.child.stdout }).on('line', (line) => {
      const message = JSON.parse(line);
      this.#waiting.get(message.id)?.resolve(message);
      this.#waiting.delete(message.id);
    });
    void this.exited.then(() => {
      const error = new Error(`The gateway has ended: ${this.log.slice(-500)}`);
      for (const { reject } of this.#waiting.values()) reject(error);
    });
  }

  async ready() {
    if (this.#version === MODERN) return;
    await this.#ask(initialize(this.#version));
    this.#send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  }

  async call(text, name = SERVERS[this.#lastId % SERVERS.length]) {
    const params = envelope(this.#version, suiteCall(name, 'echo', { text }));
    checkEcho(await this.#ask({ jsonrpc: '2.0', id: ++this.#lastId, method: 'tools/call', params }), text);
  }

  end() {
    this.child.stdin.end();
  }

  #ask(message) {
    return new Promise((resolve, reject) => {
      this.#waiting.set(message.id, { resolve, reject });
      this.#send(message);
    });
  }

  #send(message) {
    this.child.stdin.write(`${JSON.stringify(message)}\n`);
  }
}
