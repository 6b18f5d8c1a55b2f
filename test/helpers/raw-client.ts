import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { atTestEnd } from './cleanup.ts';
import type { TestScope } from './cleanup.ts';
import { createReader, encode } from './framing.ts';
import type { Framing } from './framing.ts';
import { killAll, marker as newMarker } from './processes.ts';
import type { Marker } from './processes.ts';
import { ROOT } from './temp-project.ts';

export type Json = any;
export type RpcId = string | number | null;

/** Any parsed JSON-RPC message. */
export interface RpcMessage {
  readonly jsonrpc?: string;
  readonly id?: RpcId;
  readonly method?: string;
  readonly params?: Json;
  readonly result?: Json;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Json };
}

/** Something the process wrote to stdout: a line, or the body of a frame. */
export interface Line {
  readonly bytes: Buffer;
  readonly text: string;
  /** When it arrived, on the clock of `performance.now()`. */
  readonly at: number;
  /** Absent if the line is not a JSON object. */
  readonly message: RpcMessage | undefined;
  /** Why this is not exactly one JSON-RPC message; absent if it is. */
  readonly problem: string | undefined;
}

/** A request and all responses to it. */
export interface LedgerEntry {
  readonly id: RpcId;
  readonly method: string;
  readonly answers: RpcMessage[];
}

/** How many responses each request got. */
export interface Ledger {
  readonly entries: readonly LedgerEntry[];
  /** Responses to ids that were never sent, or without an id. */
  readonly strays: readonly RpcMessage[];
  /** Requests without a response so far. */
  unanswered(): LedgerEntry[];
  /** Requests with more than one response. */
  doubled(): LedgerEntry[];
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Milliseconds since the call of `close` or `kill`, or since the start if it exited by itself. */
  readonly ms: number;
}

export interface RawClientOptions {
  /** The program. Default: this Node, with dist/index.js before `args`. */
  readonly command?: string;
  readonly args?: readonly string[];
  /** Default: the working directory of the test. */
  readonly cwd?: string;
  /** Merged over our own environment; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The framing of our messages, and of the responses. Default newline. */
  readonly framing?: Framing;
  /** How long to wait for anything, in milliseconds. Default 20 000. */
  readonly deadline?: number;
  /**
   * Whether the test fails at its end (and `close` before that) if stdout contained anything but JSON-RPC messages, or
   * a second or unexpected response. Default true; false for servers that misbehave on purpose.
   */
  readonly strict?: boolean;
  /** Passed to every descendant. Default: a new one. */
  readonly marker?: Marker;
  /** The context of a concurrent test. */
  readonly scope?: TestScope;
}

export interface WaitOptions {
  /** Milliseconds. Default: the client's. */
  readonly deadline?: number;
}

export interface MessageWaitOptions extends WaitOptions {
  /** How many of `messages` to skip, for example all that had arrived at some moment. Default 0. */
  readonly from?: number;
}

export interface RequestOptions extends WaitOptions {
  /** Default 1, 2, 3 … */
  readonly id?: RpcId;
}

export interface CallOptions extends RequestOptions {
  /** Sent as `_meta.progressToken`. */
  readonly progressToken?: string | number;
}

export type Reply = { readonly result: Json } | { readonly error: Json } | undefined;

/** Answers a request of the server, now or later; undefined leaves it unanswered. */
export type RequestHandler = (params: Json, request: RpcMessage) => Reply | Promise<Reply>;

/** Starts a program and speaks JSON-RPC with it, checking everything. It ends with the test. */
export function startClient(options: RawClientOptions = {}): RawClient {
  return new RawClient(options);
}

/** The text of the first content item of a tools/call response. Throws with the response if there is none. */
export function textOf(response: RpcMessage): string {
  const text: unknown = response.result?.content?.[0]?.text;
  if (typeof text !== 'string') throw new Error(`No text in ${JSON.stringify(response).slice(0, 500)}`);
  return text;
}

/** The text of a result, or the message of an error. */
export function responseText(response: RpcMessage): string {
  return response.error?.message ?? textOf(response);
}

const MIB = 1_048_576;

interface Pending {
  readonly entry: LedgerEntry;
  readonly settle: (outcome: RpcMessage | Error) => void;
}

export class RawClient {
  readonly marker: Marker;
  readonly lines: Line[] = [];
  /** Everything received that was a JSON object, in order. */
  readonly messages: RpcMessage[] = [];
  readonly notifications: RpcMessage[] = [];
  /** Requests the server sent to us. */
  readonly requests: RpcMessage[] = [];
  /** The size of each chunk that was read from stdout, in bytes. */
  readonly chunkSizes: number[] = [];
  /** Everything that was wrong with stdout, as sentences. */
  readonly problems: string[] = [];
  readonly ledger: Ledger;
  /** Resolves when the process has ended, for whatever reason. */
  readonly exited: Promise<Exit>;

  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #framing: Framing;
  readonly #deadline: number;
  readonly #strict: boolean;
  readonly #command: string;
  readonly #entries: LedgerEntry[] = [];
  readonly #lastEntry = new Map<string, LedgerEntry>();
  readonly #strays: RpcMessage[] = [];
  readonly #lineOf = new WeakMap<RpcMessage, Line>();
  readonly #pending = new Map<string, Pending[]>();
  readonly #watchers = new Set<() => void>();
  readonly #handlers = new Map<string, RequestHandler>([['ping', () => ({ result: {} })]]);
  #nextId = 0;
  #stderr = '';
  #since = performance.now();
  #cutOff = false;
  #exit: Exit | undefined;
  /** Why nothing more can arrive; undefined while something can. */
  #over: string | undefined;

  constructor(options: RawClientOptions) {
    const { command = process.execPath, args = [], cwd, env = {}, framing = 'newline' } = options;
    const program = options.command === undefined ? [join(ROOT, 'dist/index.js'), ...args] : args;
    this.marker = options.marker ?? newMarker();
    this.#framing = framing;
    this.#deadline = options.deadline ?? 20_000;
    this.#strict = options.strict ?? true;
    this.#command = [command, ...program].join(' ');
    this.ledger = {
      entries: this.#entries,
      strays: this.#strays,
      unanswered: () => this.#entries.filter(({ answers }) => answers.length === 0),
      doubled: () => this.#entries.filter(({ answers }) => answers.length > 1),
    };
    this.#child = spawn(command, program, {
      cwd,
      env: { ...process.env, ...env, ...this.marker.env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.exited = this.#listen();
    atTestEnd(() => this.dispose(), options.scope);
  }

  /** Undefined if the program could not be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Everything written to stderr so far, up to the last 4 MiB. */
  get stderr(): string {
    return this.#stderr;
  }

  /** Sends a request; resolves with the whole response, whether it is a result or an error. */
  request(method: string, params?: Json, options: RequestOptions = {}): Promise<RpcMessage> {
    const id = options.id === undefined ? ++this.#nextId : options.id;
    const answer = this.answerTo(id, { method, ...options });
    this.send({ jsonrpc: '2.0', id, method, params });
    return answer;
  }

  /** Waits for the response to an id that is sent with `sendRaw`, and adds it to the ledger. Call it before sending. */
  answerTo(id: RpcId, options: WaitOptions & { method?: string } = {}): Promise<RpcMessage> {
    const { method = 'raw', deadline = this.#deadline } = options;
    const key = JSON.stringify(id);
    const entry: LedgerEntry = { id, method, answers: [] };
    this.#entries.push(entry);
    this.#lastEntry.set(key, entry);
    const what = `an answer to ${method} (id ${key})`;
    const answer = new Promise<RpcMessage>((resolve, reject) => {
      if (this.#over !== undefined) {
        reject(this.#failure(`Cannot get ${what}: ${this.#over}.`));
        return;
      }
      const timer = setTimeout(() => {
        settle(this.#failure(`No ${what.slice(3)} within ${deadline} ms.`));
      }, deadline);
      const settle = (outcome: RpcMessage | Error): void => {
        clearTimeout(timer);
        const waiting = (this.#pending.get(key) ?? []).filter((pending) => pending.entry !== entry);
        if (waiting.length === 0) this.#pending.delete(key);
        else this.#pending.set(key, waiting);
        if (outcome instanceof Error) reject(outcome);
        else resolve(outcome);
      };
      this.#pending.set(key, [...(this.#pending.get(key) ?? []), { entry, settle }]);
    });
    return mayGoUnseen(answer);
  }

  notify(method: string, params?: Json): void {
    this.send({ jsonrpc: '2.0', method, params });
  }

  /** Sends any value as one message, in the framing of this client. */
  send(message: unknown): void {
    this.sendRaw(encode(message, this.#framing));
  }

  /** Writes these bytes unchanged. */
  sendRaw(bytes: string | Uint8Array): void {
    if (this.#child.stdin.writable) this.#child.stdin.write(bytes);
  }

  /** The handshake: `initialize` and, if that succeeds, `notifications/initialized`. */
  initialize(version = '2025-06-18', capabilities: Json = {}): Promise<RpcMessage> {
    const params = {
      protocolVersion: version,
      capabilities,
      clientInfo: { name: 'raw-client', version: '0.0.0' },
    };
    const response = this.request('initialize', params).then((answer) => {
      if (answer.result !== undefined) this.notify('notifications/initialized');
      return answer;
    });
    return mayGoUnseen(response);
  }

  /** tools/call; resolves with the whole response. */
  call(name: string, args: Json = {}, options: CallOptions = {}): Promise<RpcMessage> {
    const { progressToken } = options;
    const meta = progressToken === undefined ? {} : { _meta: { progressToken } };
    return this.request('tools/call', { name, arguments: args, ...meta }, options);
  }

  /** The tools of one tools/list. Throws if it fails. */
  async listTools(): Promise<Json[]> {
    const response = await this.request('tools/list');
    if (!Array.isArray(response.result?.tools)) {
      throw this.#failure(`No list of tools: ${JSON.stringify(response).slice(0, 500)}`);
    }
    return response.result.tools;
  }

  /**
   * Sets how requests of the server are answered. Without a handler, ping is answered and everything else gets −32601.
   */
  handle(method: string, handler: RequestHandler): void {
    this.#handlers.set(method, handler);
  }

  /** Answers a request of the server that its handler left unanswered. */
  reply(request: RpcMessage, reply: Reply): void {
    if (reply !== undefined) this.send({ jsonrpc: '2.0', id: request.id, ...reply });
  }

  /** The first message, received already or later, that matches the predicate. */
  waitFor(
    predicate: (message: RpcMessage) => boolean,
    options: MessageWaitOptions = {},
  ): Promise<RpcMessage> {
    let seen = options.from ?? 0;
    return this.#wait(
      () => {
        while (seen < this.messages.length) {
          const message = this.messages[seen++]!;
          if (predicate(message)) return message;
        }
        return undefined;
      },
      'a message',
      options,
    );
  }

  /** Calls `look` whenever a message or text on stderr arrives, and resolves with the first value it returns. */
  waitUntil<T>(look: () => T | undefined, what: string, options: WaitOptions = {}): Promise<T> {
    return this.#wait(look, what, options);
  }

  /** The original text of a message. */
  wireText(message: RpcMessage): string {
    const line = this.#lineOf.get(message);
    if (line === undefined) throw new Error(`Not received here: ${JSON.stringify(message).slice(0, 200)}`);
    return line.text;
  }

  /** The first match in everything written to stderr. */
  waitForStderr(pattern: RegExp, options: WaitOptions = {}): Promise<RegExpExecArray> {
    return this.#wait(
      () => new RegExp(pattern, pattern.flags.replace(/[gy]/g, '')).exec(this.#stderr) ?? undefined,
      `stderr to match ${String(pattern)}`,
      options,
    );
  }

  /** Resolves when the process has closed its stdout, possibly before it ends. */
  async stdoutEnded(options: WaitOptions = {}): Promise<void> {
    await this.#wait(() => this.#child.stdout.readableEnded || undefined, 'stdout to end', options);
  }

  /** Stops reading stdout, so that the pipe fills up. */
  pauseReading(): void {
    this.#child.stdout.pause();
  }

  resumeReading(): void {
    this.#child.stdout.resume();
  }

  /** Ends stdin and waits for the exit. */
  async close(options: WaitOptions = {}): Promise<Exit> {
    this.#since = performance.now();
    this.#child.stdin.end();
    return this.#gone('the end of its stdin', options);
  }

  /** Sends a signal and waits for the exit. */
  async kill(signal: NodeJS.Signals = 'SIGTERM', options: WaitOptions = {}): Promise<Exit> {
    this.#since = performance.now();
    this.signal(signal);
    return this.#gone(signal, options);
  }

  /** Sends a signal and does not wait. */
  signal(signal: NodeJS.Signals): void {
    if (signal === 'SIGKILL') this.#cutOff = true;
    this.#child.kill(signal);
  }

  /**
   * Throws if stdout contained anything but JSON-RPC messages, or a second or unexpected response. An error with id
   * null is allowed: it is the right response to bytes that cannot be read.
   */
  check(): void {
    const faults = [
      ...this.problems,
      ...this.ledger.doubled().map((entry) => `answered ${entry.answers.length} times: ${describe(entry)}`),
      ...this.#strays
        .filter(({ id, error }) => id !== null || error === undefined)
        .map((answer) => `answered unasked: ${JSON.stringify(answer).slice(0, 200)}`),
    ];
    if (faults.length > 0) throw this.#failure(`Bad output: ${faults.slice(0, 10).join('; ')}`);
  }

  /** Kills the process and everything it started; runs by itself at the end of the test. */
  async dispose(): Promise<void> {
    this.signal('SIGKILL');
    await killAll(this.marker);
    await this.#wait(() => this.#exit, 'the killed process to be gone', {});
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) stream.destroy();
    if (this.#strict) this.check();
  }

  #listen(): Promise<Exit> {
    const child = this.#child;
    const reader = createReader(this.#framing, (bytes, problem) => {
      this.#receive(bytes, problem);
    });
    child.stdin.on('error', () => undefined); // The process has ended, which `exited` reports.
    child.stdout.on('data', (chunk: Buffer) => {
      this.chunkSizes.push(chunk.length);
      reader.push(chunk);
      this.#wake();
    });
    child.stdout.on('end', () => {
      // A process that we killed may have been in the middle of a line.
      if (!this.#cutOff) reader.end();
      this.#wake();
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
      if (this.#stderr.length > 8 * MIB) this.#stderr = this.#stderr.slice(-4 * MIB);
      this.#wake();
    });
    return new Promise((resolve) => {
      const finish = (code: number | null, signal: NodeJS.Signals | null, why: string): void => {
        if (this.#exit !== undefined) return;
        this.#exit = { code, signal, ms: performance.now() - this.#since };
        resolve(this.#exit);
        const over = (): void => {
          clearTimeout(timer);
          this.#over = why;
          for (const { settle, entry } of [...this.#pending.values()].flat()) {
            settle(this.#failure(`No answer to ${describe(entry)}: ${why}.`));
          }
          this.#wake();
        };
        // A grandchild may keep the pipes open forever, so we stop waiting here.
        const timer = setTimeout(over, 2000);
        child.once('close', over);
        this.#wake();
      };
      child.once('exit', (code, signal) => {
        finish(code, signal, `the process exited (${signal ?? `code ${String(code)}`})`);
      });
      child.once('error', (error) => {
        if (child.pid === undefined) finish(null, null, `it could not be started: ${error.message}`);
      });
    });
  }

  #receive(bytes: Buffer, frameProblem: string | undefined): void {
    const line = readLine(bytes, frameProblem);
    this.lines.push(line);
    if (line.problem !== undefined) {
      this.problems.push(`${line.problem}: ${JSON.stringify(line.text.slice(0, 200))}`);
    }
    const { message } = line;
    if (message === undefined) return;
    this.messages.push(message);
    this.#lineOf.set(message, line);
    if (typeof message.method !== 'string') this.#answered(message);
    else if (message.id === undefined) this.notifications.push(message);
    else this.#asked(message);
  }

  #answered(message: RpcMessage): void {
    const key = JSON.stringify(message.id);
    const pending = this.#pending.get(key)?.[0];
    const entry = pending?.entry ?? this.#lastEntry.get(key);
    if (entry === undefined) this.#strays.push(message);
    else entry.answers.push(message);
    pending?.settle(message);
  }

  #asked(request: RpcMessage): void {
    this.requests.push(request);
    const handler = this.#handlers.get(request.method!);
    const answer =
      handler === undefined
        ? { error: { code: -32601, message: `raw-client does not answer ${request.method!}` } }
        : handler(request.params, request);
    if (answer instanceof Promise) void answer.then((late) => this.reply(request, late));
    else this.reply(request, answer);
  }

  async #gone(cause: string, options: WaitOptions): Promise<Exit> {
    const exit = await this.#wait(
      () => (this.#over === undefined ? undefined : this.#exit),
      `the process to exit after ${cause}`,
      options,
    );
    if (this.#strict) this.check();
    return exit;
  }

  /** Calls `look` whenever something happens: a message, text on stderr, the exit. */
  #wait<T>(look: () => T | undefined, what: string, { deadline }: WaitOptions): Promise<T> {
    const limit = deadline ?? this.#deadline;
    const wait = new Promise<T>((resolve, reject) => {
      const done = (finish: () => void): void => {
        clearTimeout(timer);
        this.#watchers.delete(watcher);
        finish();
      };
      const watcher = (): void => {
        try {
          const value = look();
          if (value !== undefined) {
            done(() => resolve(value));
          } else if (this.#over !== undefined) {
            const why = this.#over;
            done(() => reject(this.#failure(`Waited for ${what}, but ${why}.`)));
          }
        } catch (error) {
          done(() => reject(error instanceof Error ? error : new Error(String(error))));
        }
      };
      const timer = setTimeout(() => {
        done(() => reject(this.#failure(`Waited ${limit} ms for ${what}.`)));
      }, limit);
      this.#watchers.add(watcher);
      watcher();
    });
    return mayGoUnseen(wait);
  }

  #wake(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }

  #failure(sentence: string): Error {
    const open = this.ledger.unanswered().map(describe).slice(0, 5).join(', ');
    return new Error(
      [
        sentence,
        `command: ${this.#command}`,
        `received: ${this.lines.length} lines, last: ${this.lines.at(-1)?.text.slice(0, 200) ?? '(none)'}`,
        `unanswered: ${open === '' ? '(none)' : open}`,
        `stderr: ${this.#stderr === '' ? '(empty)' : `…\n${this.#stderr.slice(-2000)}`}`,
      ].join('\n'),
    );
  }
}

/** A test may leave a request unanswered on purpose and never look at it again, which is not an unhandled rejection. */
function mayGoUnseen<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

function describe({ id, method }: LedgerEntry): string {
  return `${method} (id ${JSON.stringify(id)})`;
}

function readLine(bytes: Buffer, frameProblem: string | undefined): Line {
  const line = { bytes, text: bytes.toString('utf8'), at: performance.now() };
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (error) {
    return { ...line, message: undefined, problem: `not JSON (${String(error).slice(0, 100)})` };
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    return { ...line, message: undefined, problem: 'not a JSON object' };
  }
  return { ...line, message: value, problem: frameProblem ?? problemOf(value, bytes) };
}

/** Why this object is not exactly one JSON-RPC 2.0 request, notification or response. */
function problemOf(message: RpcMessage, bytes: Buffer): string | undefined {
  if (bytes.at(-1) === 13) return 'ends in a carriage return';
  if (message.jsonrpc !== '2.0') return 'jsonrpc is not "2.0"';
  const { id } = message;
  const idFits = id === undefined || id === null || typeof id === 'string' || typeof id === 'number';
  if (!idFits) return 'id is neither string nor number';
  const answers = Number('result' in message) + Number('error' in message);
  if ('method' in message) {
    if (typeof message.method !== 'string') return 'method is not a string';
    return answers === 0 && id !== null ? undefined : 'neither a request nor a response';
  }
  if (answers !== 1) return 'not exactly one of result and error';
  if (id === undefined) return 'a response without id';
  if ('error' in message) {
    const { error } = message as { error: unknown };
    const { code, message: said } = (error ?? {}) as { code?: unknown; message?: unknown };
    return Number.isInteger(code) && typeof said === 'string' ? undefined : 'error has no code and message';
  }
  return id === null ? 'a result with id null' : undefined;
}
