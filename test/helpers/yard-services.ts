import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { afterAll } from 'vitest';
import { down, type DownOptions, type DownResult } from '../../src/switchyard/features/down/down.ts';
import { stopProxy } from '../../src/switchyard/features/proxy/stop.ts';
import { up, type UpOptions, type UpResult } from '../../src/switchyard/features/up/up.ts';
import type { ServiceRecord } from '../../src/switchyard/records/state/records.ts';
import type { YardEvent } from '../../src/switchyard/runtime/events.ts';
import { isPortFree } from '../../src/switchyard/runtime/ports/probe.ts';
import type { ServiceOutcome } from '../../src/switchyard/runtime/start/outcome.ts';
import { carriersOf, environmentOf } from '../servers/shapes/watch.ts';
import { atTestEnd } from './cleanup.ts';
import { until } from './until.ts';
import { daemonProgram, endProcess, testYard, type TestYard } from './yard-home.ts';

/** A project whose services are really started; those that are left at the end of the test are stopped. */
export interface RunningYard extends TestYard {
  readonly root: string;
  readonly home: string;
  up(options?: Partial<UpOptions>): Promise<UpResult>;
  down(options?: Partial<DownOptions>): Promise<DownResult>;
  /** All events until now. */
  readonly events: YardEvent[];
  services(): Record<string, ServiceRecord>;
  /** The pids of all processes with the cookie of a service of this home, or of one service. */
  alive(service?: string): number[];
  /** Kills all processes of a service, so that none can clean up. */
  kill(service: string): Promise<void>;
}

/**
 * Responds over HTTP with its environment, on PORT and HOST. `--delay MS` reports it and waits first, `--port N` and
 * `--host H` listen elsewhere, `--fail CODE` exits instead, `--status N` is the status of `/health`.
 */
const SERVER = `
import { createServer } from 'node:http';
const option = (name, otherwise) => {
  const at = process.argv.indexOf('--' + name);
  return at === -1 ? otherwise : process.argv[at + 1];
};
const began = Date.now();
if (option('delay') !== undefined) console.log('waiting');
await new Promise((resolve) => setTimeout(resolve, Number(option('delay', 0))));
const fail = option('fail');
if (fail !== undefined) {
  for (let line = 1; line <= 30; line++) console.error('trouble ' + line);
  process.exit(Number(fail));
}
createServer((request, response) => {
  if (request.url === '/health') {
    const sick = Date.now() - began < Number(option('sick', 0));
    response.writeHead(sick ? 503 : Number(option('status', 200))).end();
  } else {
    response.end(JSON.stringify({ env: process.env, cwd: process.cwd(), argv: process.argv.slice(2), pid: process.pid }));
  }
}).listen(Number(option('port', process.env.PORT)), option('host', process.env.HOST), () => console.log('listening'));
`;

/** `services` are lines of `switchyard.toml`; a command may be `node server.mjs`, see above. */
export async function runningYard(services: string, home?: string): Promise<RunningYard> {
  const yard = await testYard(services, home);
  const { config, home: place } = yard.context;
  writeFileSync(join(config.root, 'server.mjs'), SERVER);
  const events: YardEvent[] = [];
  const alive = (service?: string): number[] =>
    carriersOf(`SWITCHYARD_COOKIE=${place.hash}.`).filter(
      (pid) => service === undefined || environmentOf(pid).includes(`SWITCHYARD_SERVICE=${service}\0`),
    );
  const kill = async (service?: string): Promise<void> => {
    await until(() => {
      const left = alive(service);
      left.forEach((pid) => endProcess(pid));
      return left.length === 0;
    });
  };
  atTestEnd(async () => {
    await kill();
    await stopProxy(yard.context);
  });
  const onEvent = (event: YardEvent): void => void events.push(event);
  return {
    ...yard,
    root: config.root,
    home: place.root,
    events,
    alive,
    kill,
    services: () => yard.reopen().registry.read().projects[config.root]?.services ?? {},
    up: (options) => up(yard.context, { services: [], program: daemonProgram(), onEvent, ...options }),
    down: (options) => down(yard.context, { services: [], onEvent, ...options }),
  };
}

/**
 * Consecutive ports that were free a moment ago, below the ranges of projects and systems, where other tests may take
 * one at any time.
 */
export async function freeRange(length: number): Promise<{ start: number; end: number }> {
  for (;;) {
    // Above the ports that fetch refuses, as browsers do: 10080 is the last one.
    const start = 10_100 + Math.floor(Math.random() * 9000);
    const ports = Array.from({ length }, (_, index) => start + index);
    const free = await Promise.all(ports.map(isPortFree));
    if (free.every(Boolean)) return { start, end: start + length - 1 };
  }
}

/** The outcome of one service. */
export function outcomeOf({ outcomes }: UpResult, service: string): ServiceOutcome {
  const found = outcomes.find((outcome) => outcome.service === service);
  if (found === undefined) throw new Error(`nothing is said about ${service}`);
  return found;
}

/** What a service that runs `server.mjs` reports about itself. */
export async function ask(
  port: number | null,
  host = '127.0.0.1',
): Promise<{ env: Record<string, string>; cwd: string; argv: string[]; pid: number }> {
  const response = await fetch(`http://${host.includes(':') ? `[${host}]` : host}:${port ?? 0}/`);
  return (await response.json()) as never;
}

let built: string | undefined;
// A worker of the test runner ends without an `exit` event of its own.
afterAll(() => {
  if (built !== undefined) rmSync(dirname(built), { recursive: true, force: true });
});

/** Starts `up` of this project in its own process. Built once per test file. */
export function spawnUp(yard: RunningYard, options: Partial<UpOptions> = {}): ChildProcess {
  if (built === undefined) {
    const folder = mkdtempSync(join(tmpdir(), 'yard-command-'));
    built = join(folder, 'command.mjs');
    const entry = fileURLToPath(new URL('./yard-command.ts', import.meta.url));
    buildSync({ entryPoints: [entry], outfile: built, bundle: true, platform: 'node', format: 'esm' });
  }
  const child = spawn(process.execPath, [built, JSON.stringify({ program: daemonProgram(), ...options })], {
    cwd: yard.root,
    env: { ...process.env, SWITCHYARD_HOME: yard.home },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  atTestEnd(() => {
    endProcess(child.pid!);
    return Promise.resolve();
  });
  return child;
}
