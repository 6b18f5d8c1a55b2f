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

/** The official server `everything` as one that runs elsewhere: reached over HTTP, and nobody's child but the test's. */
export interface RemoteServer {
  /** Stays the same over all its lives. */
  readonly url: string;
  /** Its processes are found by this and by no gateway's. */
  readonly marker: Marker;
  /** Everything it printed, in all its lives. */
  output(): string;
  /** Ends it in the middle of whatever it does. Resolves when it is gone. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again on the same port, where it remembers nothing. Resolves when it answers. */
  start(): Promise<void>;
  /** Ends it for good; happens by itself at the end of the test it was started in. */
  close(): Promise<void>;
}

/** Started and ready to be asked. */
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

/** An entry of `mcpServers` for a server that runs elsewhere. */
export function remoteEntry(url: string, more: object = {}): any {
  return { url, ...more };
}

/**
 * A port that nobody listens on, and that stays free while its server is away: it is not one of those that the system
 * gives to whoever wants any port.
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

/** Any answer will do. One that has exited never gives one, and somebody else on its port is not asked. */
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

/** A server over HTTP that misbehaves as it is asked to; stopped at the end of the test. */
export async function startOddServer(options: Partial<OddHttpSettings> = {}): Promise<OddHttp> {
  const server = await startOddHttp(options);
  atTestEnd(() => server.stop().catch(() => undefined));
  return server;
}

/** Far more than any of these may take, and far less than a call that nobody ends. */
export const BOUNDED = 15_000;

/** What a call that failed says; fails the test where it worked. */
export function failure({ result, error }: RpcMessage): string {
  expect(error !== undefined || result?.isError === true, JSON.stringify({ result, error })).toBe(true);
  return error?.message ?? result.content[0].text;
}

/** A sentence that names the server, and none of what programs say to programmers. */
export function expectClear(sentence: string, server: string): void {
  expect(sentence).toContain(`'${server}'`);
  expect(sentence).not.toMatch(/undefined|\[object|\bat \w+ \(|ECONN|ENOTFOUND|HPE_|Error:/);
  expect(sentence).not.toMatch(/\p{Cc}(?<!\n)/u);
}
