import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { listen } from '../../../test/servers/modern.mjs';
import { Session, type Call, type ClientLink, type Source, type SourceInfo } from '../../gateway/index.ts';
import { createChildProcesses } from '../../process/index.ts';
import { CLIENT_SHAPE, type CatalogKind, type Era, type JsonObject } from '../../protocol/index.ts';
import { Deadlines } from '../../shared/deadline.ts';
import { createLogger } from '../../shared/log.ts';
import type { SwitchboardError } from '../../shared/errors.ts';
import {
  editedText,
  fromChunks,
  Message,
  readMessage,
  type AnswerListener,
  type Edit,
} from '../../wire/index.ts';
import type { UpstreamContext } from '../context.ts';
import type { CallTimeouts, UpstreamServer } from '../server.ts';
import { ServerSource } from '../source.ts';
import { factsCache, testUpstreamContext } from '../../../test/helpers/upstream-context.ts';

export interface Asked {
  readonly id: number;
  readonly method: string;
  readonly params: any;
  answer(result: object): void;
  fail(message: string): void;
}

/** A client, modern or not, that keeps everything it receives. */
export class TestClient implements ClientLink {
  readonly congested = false;
  readonly capabilities: JsonObject;
  readonly modern: boolean;
  readonly session: Session;
  readonly asked: Asked[] = [];
  readonly withdrawn: number[] = [];
  readonly notifications: any[] = [];
  readonly #waiting = new Map<string, { answered(answer: any): void }>();
  #lastId = 0;

  constructor(capabilities: JsonObject = {}, modern = false) {
    this.capabilities = capabilities;
    this.modern = modern;
    this.session = new Session(this);
    this.session.ready();
  }

  /** Sends a request; resolves with the answer, or with `{ failed }` if the failure was ours. */
  send(source: Source, method: string, params?: object, id: string | number = ++this.#lastId): Sent {
    const text = JSON.stringify({ jsonrpc: '2.0', id, method, params });
    // As the doors of both eras read it.
    const message = readMessage(fromChunks([Buffer.from(text)]), CLIENT_SHAPE, 'newline', this.modern);
    if (!(message instanceof Message)) throw new Error('The request did not pass the scan');
    const call = this.session.open(message, method);
    call.assign(source, () => 'The call');
    const answer = new Promise<any>((resolve) => {
      this.#waiting.set(call.id, { answered: resolve });
    });
    source.request([], call);
    return { call, answer };
  }

  tool(source: Source, name: string, args: object = {}, _meta?: object): Sent {
    return this.send(source, 'tools/call', { name, arguments: args, ...(_meta ? { _meta } : {}) });
  }

  forwardAnswer(answer: Message, call: Call, edits: readonly Edit[]): void {
    this.#waiting.get(call.id)?.answered(JSON.parse(editedText(answer, edits)));
  }

  forwardNotification(notification: Message, edits: readonly Edit[]): void {
    this.notifications.push(JSON.parse(editedText(notification, edits)));
  }

  answer(call: Call, result: JsonObject): void {
    this.#waiting.get(call.id)?.answered({ result });
  }

  answerText(call: Call, resultText: string): void {
    this.answer(call, JSON.parse(resultText) as JsonObject);
  }

  fail(call: Call, error: SwitchboardError): void {
    this.#waiting.get(call.id)?.answered({ failed: error });
  }

  ask(request: Message, listener: AnswerListener): number {
    const id = this.asked.length + 1;
    const { method, params } = JSON.parse(request.toString()) as { method: string; params: unknown };
    const say = (body: object): void =>
      listener.answered(Message.from({ jsonrpc: '2.0', id, ...body }, CLIENT_SHAPE));
    this.asked.push({
      id,
      method,
      params,
      answer: (result) => say({ result }),
      fail: (message) => say({ error: { code: -1, message } }),
    });
    return id;
  }

  withdraw(id: number): void {
    this.withdrawn.push(id);
  }

  notify(): void {
    // Lists are checked where they are kept.
  }

  whenDrained(listener: () => void): void {
    listener();
  }
}

export interface Sent {
  readonly call: Call;
  readonly answer: Promise<any>;
}

/** The text of a tool result, parsed. */
export function parsedText(answer: any): any {
  const text = answer.result.content[0].text as string;
  return /^[[{]/.test(text) ? JSON.parse(text) : text;
}

export interface UpstreamHarness {
  readonly source: Source;
  /** Lines of the log. */
  readonly log: string[];
  readonly changed: CatalogKind[];
  readonly updated: any[];
  /** Returns how often it was started. */
  readonly starts: () => number;
}

export interface UpstreamHarnessOptions {
  readonly timeouts?: Partial<CallTimeouts>;
  readonly capabilities?: JsonObject;
  readonly recalled?: SourceInfo;
  /** The era of the client that it is for. */
  readonly era?: Era;
  /** Takes calls that need a connection of the other era. Default: there is none. */
  readonly other?: (edits: Edit[], call: Call) => void;
  /** Default: remembers nothing but `recalled`. */
  readonly cache?: UpstreamContext['cache'];
  /** For remote servers. Default `http`. */
  readonly transport?: 'auto' | 'http' | 'sse';
}

/** A source whose server is the test server as a process. */
export function overStdio(
  args: readonly string[] = [],
  options: UpstreamHarnessOptions = {},
): UpstreamHarness {
  const target = {
    kind: 'process',
    command: process.execPath,
    args: ['test/servers/modern.mjs', ...args],
    cwd: process.cwd(),
    env: () => process.env as Record<string, string>,
    shown: { command: 'node', cwd: '.' },
    framing: 'newline',
  } as const;
  return createHarness(target, options);
}

/** A source whose server is at this address. */
export function overHttp(url: string, options: UpstreamHarnessOptions = {}): UpstreamHarness {
  const { transport = 'http' } = options;
  return createHarness({ kind: 'remote', transport, url, shown: { url }, headers: {} }, options);
}

function createHarness(target: UpstreamServer['target'], options: UpstreamHarnessOptions): UpstreamHarness {
  const children = createChildProcesses({
    log: createLogger({ level: 'error', program: 't', write: () => undefined }),
  });
  const lines: string[] = [];
  const changed: CatalogKind[] = [];
  const updated: any[] = [];
  let starts = 0;
  const server: UpstreamServer = {
    name: 'tested',
    target,
    timeouts: {
      childSpawnMs: 20_000,
      rpcMs: 20_000,
      callMaxMs: 60_000,
      idleMs: 'never',
      ...options.timeouts,
    },
    limits: { messageBytes: 1 << 24, callsInFlight: 64, callsQueued: 100 },
  };
  const source = new ServerSource(
    server,
    testUpstreamContext(children, {
      log: createLogger({ level: 'debug', program: 't', write: (line) => lines.push(line) }),
      identity: () => ({
        clientInfo: { name: 'switch', version: '9' },
        capabilities: options.capabilities ?? {},
      }),
      era: () => options.era,
      other: () => options.other,
      cache: options.cache ?? factsCache(options.recalled),
    }),
    new Deadlines(),
  );
  source.listen({
    started: () => starts++,
    failed: () => undefined,
    stopped: () => undefined,
    changed: (kind) => changed.push(kind),
    notified: (notification, callers) => {
      const message = JSON.parse(notification.toString()) as { method: string };
      if (message.method === 'notifications/resources/updated') updated.push(message);
      for (const session of callers()) session.client.forwardNotification(notification, []);
      return undefined;
    },
    requested: () => undefined,
    inUse: () => false,
  });
  onTestFinished(async () => {
    await source.close();
    await children.stopAll({ term: 0, kill: 500 });
  });
  return { source, log: lines, changed, updated, starts: () => starts };
}

/** The test server over HTTP; it is stopped after the test. */
export async function startModernServer(options?: Parameters<typeof listen>[0]) {
  const endpoint = await listen(options);
  onTestFinished(() => endpoint.close());
  return endpoint;
}

/** A file that is deleted after the test. */
export function scratchFile(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'modern-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, name);
}
