import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { createServer } from 'node:net';
import type { Readable } from 'node:stream';
import { expect } from 'vitest';
import { startOddHttp, type OddHttp, type OddHttpSettings } from '../servers/odd-http.mjs';
import { atTestEnd, type TestScope } from './cleanup.ts';
import { killAll, marker as newMarker, waitUntilGone, type Marker } from './processes.ts';
import type { RpcMessage } from './raw-client.ts';
import { npmServer } from './temp-project.ts';
import { until } from './until.ts';

export type RemoteMode = 'streamableHttp' | 'sse';

/** The official server `everything` as a remote server, started by the test and not by a gateway. */
export interface RemoteServer {
  /** Stays the same across restarts. */
  readonly url: string;
  /** Finds its processes, and none of a gateway's. */
  readonly marker: Marker;
  /** Everything that it has printed, across restarts. */
  output(): string;
  /** Kills it, whatever it is doing. Resolves when it has ended. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again on the same port, without any memory of before. Resolves when it responds. */
  start(): Promise<void>;
  /** Ends it for good; runs by itself at the end of the test. */
  close(): Promise<void>;
}

/** Starts it and waits until it responds. */
export async function startRemote(mode: RemoteMode, scope?: TestScope): Promise<RemoteServer> {
  const port = await freePort();
  const mark = newMarker();
  const { command, args } = npmServer('everything', mode);
  const origin = `http://127.0.0.1:${port}`;
  let child: ChildProcessByStdio<null, Readable, Readable> | undefined;
  let output = '';

  const stop = async (signal: NodeJS.Signals = 'SIGKILL'): Promise<void> => {
    child?.kill(signal);
    await waitUntilGone(mark);
    child = undefined;
  };
  const start = async (): Promise<void> => {
    const own = spawn(command, args, {
      env: { ...process.env, PORT: String(port), ...mark.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child = own;
    for (const stream of [own.stdout, own.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text;
      });
    }
    await until(() => answers(origin, own), {
      deadline: 20_000,
      what: `the server in mode ${mode} to answer`,
      seen: () => output.slice(-500),
    });
  };
  const close = async (): Promise<void> => {
    await killAll(mark);
  };
  atTestEnd(close, scope);
  await start();
  return {
    url: `${origin}/${mode === 'sse' ? 'sse' : 'mcp'}`,
    marker: mark,
    output: () => output,
    stop,
    start,
    close,
  };
}

/** An `mcpServers` entry for a remote server. */
export function remoteEntry(url: string, more: object = {}): any {
  return { url, ...more };
}

/**
 * A port that nobody listens on and that stays free while its server is down: it is not one of those that the system
 * hands out.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 18_000 + Math.floor(Math.random() * 14_000);
    const taken = await new Promise<boolean>((resolve) => {
      const probe = createServer();
      probe.once('error', () => resolve(true));
      probe.listen(port, () => probe.close(() => resolve(false)));
    });
    if (!taken) return port;
  }
}

/** Any response will do. A server that has exited never responds, and another program on its port is not asked. */
async function answers(origin: string, child: { readonly exitCode: number | null }): Promise<boolean> {
  if (child.exitCode !== null) throw new Error(`The server exited with code ${child.exitCode}.`);
  try {
    const response = await fetch(`${origin}/nothing-here`, { signal: AbortSignal.timeout(2000) });
    await response.body?.cancel();
    return true;
  } catch {
    return false;
  }
}

/** An HTTP server that misbehaves as told; it is stopped at the end of the test. */
export async function startOddServer(options: Partial<OddHttpSettings> = {}): Promise<OddHttp> {
  const server = await startOddHttp(options);
  atTestEnd(() => server.stop().catch(() => undefined));
  return server;
}

/** Far longer than any of these may take, and far shorter than a call that never ends. */
export const BOUNDED = 15_000;

/** The message of a failed call; fails the test if the call succeeded. */
export function failure({ result, error }: RpcMessage): string {
  expect(error !== undefined || result?.isError === true, JSON.stringify({ result, error })).toBe(true);
  return error?.message ?? result.content[0].text;
}

/** Expects a sentence that names the server, without technical details. */
export function expectClear(sentence: string, server: string): void {
  expect(sentence).toContain(`'${server}'`);
  expect(sentence).not.toMatch(/undefined|\[object|\bat \w+ \(|ECONN|ENOTFOUND|HPE_|Error:/);
  expect(sentence).not.toMatch(/\p{Cc}(?<!\n)/u);
}
