import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, connect, type AddressInfo } from 'node:net';
import { atTestEnd } from './cleanup.ts';
import { createProject } from './temp-project.ts';
import { until } from './until.ts';

const isInstalled = (program: string, flag: string): boolean => spawnSync(program, [flag]).status === 0;

/** Why these tests cannot run here; undefined if they can. */
export const NO_REDIS = isInstalled('redis-server', '--version')
  ? undefined
  : 'redis-server is not installed';
export const NO_HAPROXY = isInstalled('haproxy', '-v') ? undefined : 'haproxy is not installed';

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** A real redis-server without files, which forgets everything when it ends. */
export class StoreServer {
  readonly port: number;
  readonly #args: readonly string[];
  #child: ChildProcess | undefined;

  private constructor(port: number, args: readonly string[]) {
    this.port = port;
    this.#args = args;
  }

  /** `more`: further arguments. */
  static async start(...more: readonly string[]): Promise<StoreServer> {
    const server = new StoreServer(await freePort(), more);
    await server.start();
    atTestEnd(() => server.stop());
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const args = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    this.#child = spawn('redis-server', [...args, ...this.#args], {
      stdio: 'ignore',
      cwd: createProject().dir,
    });
    await until(() => accepts(this.port), { what: 'redis-server' });
  }

  signal(signal: NodeJS.Signals): void {
    this.#child?.kill(signal);
  }

  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}

/** Whether a program listens on a port of this machine. */
export async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
