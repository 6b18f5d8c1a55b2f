import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { atTestEnd } from './cleanup.ts';
import { configFile, startGateway, type TestGateway } from './gateway.ts';
import { HttpGateway, TOKEN } from './http-gateway.ts';
import { textOf } from './raw-client.ts';
import { createProject, nodeServer, ROOT, type Project, type ServerCommand } from './temp-project.ts';
import { until } from './until.ts';

/** What a client of another server notices during an abuse. */
export interface Held {
  /** The longest time that the gateway's event loop was blocked, in milliseconds of its own CPU time. */
  readonly longest: number;
  /** How long calls to the other server took, in milliseconds, shortest first. */
  readonly calls: readonly number[];
}

interface Watched {
  /** Calls the server `canary` continuously until the abuse is over. */
  during(abuse: () => Promise<unknown>): Promise<Held>;
}

export type WatchedServers = Readonly<Record<string, object>>;

export interface WatchedConfig {
  /** Further keys of the configuration. */
  readonly config?: object | undefined;
  /** Its hooks, in JavaScript. */
  readonly hooks?: string | undefined;
}

/** By then it has started, and the code for calls is compiled. */
const WARM_UP_CALLS = 50;
/** The after-effects of an abuse count too. */
const CALLS_AFTER = 20;

/**
 * A gateway over stdio with these servers and `canary`, which measures how long its event loop is blocked. Its only
 * client calls both: the client's own CPU time does not count, but the time it waits behind other responses does. Nor
 * does the time count that the gateway, the server and this process wait for a processor: that depends on what else the
 * machine does, such as sending and reading the data of the abuse.
 */
export async function startWatchedGateway(
  servers: WatchedServers,
  { config = {}, hooks }: WatchedConfig = {},
): Promise<TestGateway & Watched> {
  const loop = watchLoop();
  const all = { ...servers, canary: nodeServer('canary') } as Record<string, ServerCommand>;
  const gateway = await startGateway(all, { config, hooks, env: loop.env });
  let server: number | undefined;
  const callCanary = async (): Promise<number> => {
    const began = performance.now();
    const computed = process.cpuUsage();
    const processes = ['self', gateway.client.pid!, ...(server === undefined ? [] : [server])];
    const waited = processes.map(waitedFor);
    const answer = await gateway.call('canary', 'tell', { value: 'sings' }, { deadline: 60_000 });
    const said = textOf(answer);
    expect(said).toContain('sings');
    // This process also reads the responses to the abuse, which is not the gateway's fault.
    const { user, system } = process.cpuUsage(computed);
    const waiting = processes.reduce<number>((sum, pid, index) => sum + waitedFor(pid) - waited[index]!, 0);
    server = (JSON.parse(said) as { pid: number }).pid;
    return Math.max(0, performance.now() - began - (user + system) / 1000 - waiting);
  };
  for (let count = 0; count < WARM_UP_CALLS; count++) await callCanary();
  return {
    ...gateway,
    async during(abuse) {
      const since = Date.now();
      const calls: number[] = [];
      let isOver = false;
      const ended = Promise.allSettled([abuse()]).then(([outcome]) => {
        isOver = true;
        return outcome;
      });
      do {
        calls.push(await callCanary());
        await sleep(1);
      } while (!isOver);
      const outcome = await ended;
      if (outcome.status === 'rejected') throw outcome.reason;
      for (let count = 0; count < CALLS_AFTER; count++) calls.push(await callCanary());
      return { longest: loop.longest(since), calls: sorted(calls) };
    },
  };
}

export interface WatchedHttpOptions extends WatchedConfig {
  /** The folder to run in. Default: a new one. */
  readonly project?: Project;
  readonly env?: Readonly<Record<string, string>>;
}

/** The same over HTTP, where a separate client in a separate process calls `canary`. */
export async function startWatchedHttpGateway(
  servers: WatchedServers,
  { project = createProject(), env = {}, config, hooks }: WatchedHttpOptions = {},
): Promise<Watched & { readonly gateway: HttpGateway }> {
  const loop = watchLoop();
  const all = { ...servers, canary: nodeServer('canary') } as Record<string, ServerCommand>;
  const files = configFile({ mcpServers: all, http: { token: TOKEN }, ...config }, hooks);
  for (const [file, content] of Object.entries(files)) project.write(file, content);
  const options = { args: ['--http', '0', '--json'], env: { ...env, ...loop.env } };
  const gateway = await new HttpGateway(project, options).ready();
  const calls = callInProcess(gateway);
  await calls.reach(WARM_UP_CALLS);
  return {
    gateway,
    async during(abuse) {
      const since = Date.now();
      await abuse();
      await calls.reach(calls.seen.length + CALLS_AFTER);
      const meanwhile = calls.seen.filter(({ at }) => at >= since);
      return { longest: loop.longest(since), calls: sorted(meanwhile.map(({ ms }) => ms)) };
    },
  };
}

function callInProcess({ url, token, pid }: HttpGateway) {
  const script = join(ROOT, 'test/helpers/call-canary.mjs');
  const child = spawn(process.execPath, [script, url, token, String(pid)], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = new Promise((resolve) => child.once('close', resolve));
  atTestEnd(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const seen: { readonly at: number; readonly ms: number }[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [at = 0, ms = 0, waiting = 0] = line.split(' ').map(Number);
    seen.push({ at, ms: Math.max(0, ms - waiting) });
  });
  return {
    seen,
    reach: (count: number) =>
      until(
        () => {
          if (child.exitCode !== null) throw new Error(`The client of the canary ended: ${stderr}`);
          return seen.length >= count;
        },
        { what: `${count} calls`, deadline: 60_000 },
      ),
  };
}

/** How long a process (its main thread) has been ready to run without a processor to run on, in milliseconds. */
function waitedFor(pid: number | string): number {
  return Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[1]) / 1e6;
}

/** Makes a gateway record how long its event loop was blocked. */
function watchLoop() {
  const file = createProject().path('held');
  return {
    env: {
      NODE_OPTIONS: `--require=${join(ROOT, 'test/helpers/watch-loop.cjs')}`,
      WATCH_LOOP_FILE: file,
    },
    longest(since: number): number {
      const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
      const held = lines.map((line) => line.split(' ').map(Number) as [at: number, ms: number]);
      return Math.max(0, ...held.filter(([at]) => at >= since).map(([, ms]) => ms));
    },
  };
}

function sorted(times: readonly number[]): readonly number[] {
  return [...times].sort((a, b) => a - b);
}
