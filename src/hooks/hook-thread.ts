import { Worker } from 'node:worker_threads';
import { SwitchboardError } from '../shared/errors.ts';
import { printableLine } from '../shared/printable.ts';

export type HookName = 'beforeCall' | 'afterCall';

export interface HookThreadOptions {
  /** The URL of the module's current version. */
  readonly address: string;
  /** The path of the module, for people. */
  readonly file: string;
  /** How long a hook may take, in milliseconds. */
  readonly timeoutMs: number;
  /** Receives each line that the module prints. */
  readonly print: (line: string) => void;
}

/** A thread that does not respond for this long is in an endless loop. In milliseconds. */
const BLOCKED_MS = 1000;
/** Limit for what a hook returns, in bytes of JSON. */
const MOST_RETURNED = 16 * 1024 * 1024;
/** A thread that uses more memory is terminated, in megabytes. */
const MEMORY_MB = 512;

/** What a hook decides: to refuse, with a reason, or to replace the arguments or the result. */
type HookAnswer = { readonly refuse: string } | { readonly json: Buffer };

/** JSON texts as bytes, each in pieces: the arguments of a call, and its result. */
export type HookValues = Readonly<Record<string, readonly Buffer[]>>;

interface Waiting {
  readonly resolve: (answer: HookAnswer | undefined) => void;
  readonly reject: (why: string) => void;
}

/**
 * Runs the hooks of one module in a thread of its own. One that never returns, uses up its memory or ends its process
 * is stopped there, while the gateway goes on. The thread starts with the first call, and again after it was stopped.
 * Values travel as bytes, because they may have megabytes: only the thread turns them into text and objects.
 */
export class HookThread {
  readonly #options: HookThreadOptions;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #lastId = 0;
  #check: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: HookThreadOptions) {
    this.#options = options;
  }

  /**
   * What a hook decides about an event, given as JSON text, with its values as bytes; undefined: nothing. Throws
   * HOOK_FAILED in every other case.
   */
  run(name: HookName, event: string, values: HookValues): Promise<HookAnswer | undefined> {
    const { timeoutMs, file } = this.#options;
    const worker = (this.#worker ??= this.#start());
    const id = ++this.#lastId;
    return new Promise<HookAnswer | undefined>((resolve, reject) => {
      const settle = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(id);
        if (this.#closed) this.#stopIfIdle();
      };
      const timer = setTimeout(() => {
        settle();
        reject(failed(name, file, `it took longer than ${timeoutMs / 1000} seconds`));
        this.#checkBlocked();
      }, timeoutMs);
      this.#waiting.set(id, {
        resolve: (answer) => {
          settle();
          resolve(answer);
        },
        reject: (why) => {
          settle();
          reject(failed(name, file, why));
        },
      });
      const copies = Object.entries(values).map(([member, pieces]) => [member, copyOf(pieces)] as const);
      worker.postMessage(
        { id, name, event, values: copies },
        copies.map(([, copy]) => copy.buffer),
      );
    });
  }

  /** Ends the thread as soon as no hook runs. A call that began earlier may still bring its result. */
  close(): void {
    this.#closed = true;
    this.#stopIfIdle();
  }

  #stopIfIdle(): void {
    if (this.#waiting.size === 0) this.#stop('it is closed');
  }

  #start(): Worker {
    const { address, print } = this.#options;
    const worker = new Worker(PROGRAM, {
      eval: true,
      workerData: address,
      execArgv: [],
      // Our own stdout belongs to the protocol.
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    });
    for (const stream of [worker.stdout, worker.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        for (const line of text.split('\n')) if (line.trim() !== '') print(printableLine(line));
      });
    const gone = (why: string): void => {
      if (this.#worker === worker) this.#stop(why);
    };
    worker.on('message', (answer: unknown) => this.#take(answer));
    worker.on('error', (error: unknown) => gone(reasonOf(error)));
    worker.on('exit', () => gone('it ended its thread'));
    worker.unref();
    return worker;
  }

  /** Our code creates these answers, but in a thread where other code runs too. */
  #take(answer: unknown): void {
    if (typeof answer !== 'object' || answer === null) return;
    const { id, refuse, json, error, pong } = answer as Readonly<Record<string, unknown>>;
    if (pong === true) {
      clearTimeout(this.#check);
      this.#check = undefined;
      return;
    }
    const waiting = typeof id === 'number' ? this.#waiting.get(id) : undefined;
    if (typeof error === 'string') waiting?.reject(reasonOf(error));
    else if (typeof refuse === 'string') waiting?.resolve({ refuse });
    else if (json === undefined) waiting?.resolve(undefined);
    else if (!(json instanceof Uint8Array)) waiting?.reject('it returned something that is not JSON');
    else if (json.length > MOST_RETURNED) waiting?.reject('it returned more than 16 MB');
    else waiting?.resolve({ json: Buffer.from(json.buffer, json.byteOffset, json.length) });
  }

  /** A hook that waits for something does not keep the others from running; one that loops does. */
  #checkBlocked(): void {
    if (this.#worker === undefined || this.#check !== undefined) return;
    this.#check = setTimeout(() => this.#stop('its thread was blocked by an endless loop'), BLOCKED_MS);
    this.#worker.postMessage({ ping: true });
  }

  #stop(why: string): void {
    const worker = this.#worker;
    this.#worker = undefined;
    clearTimeout(this.#check);
    this.#check = undefined;
    for (const { reject } of [...this.#waiting.values()]) reject(why);
    void worker?.terminate();
  }
}

/** A copy in memory of its own, which can be transferred to a thread. */
function copyOf(pieces: readonly Buffer[]): Uint8Array<ArrayBuffer> {
  const copy = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let filled = 0;
  for (const piece of pieces) {
    copy.set(piece, filled);
    filled += piece.length;
  }
  return copy;
}

function failed(name: HookName, file: string, why: string): SwitchboardError {
  return new SwitchboardError('HOOK_FAILED', `The hook ${name} in ${file} failed: ${why}.`, {
    hint: 'Without its consent nothing is passed on. Correct the hook, or remove it.',
  });
}

const LONGEST_REASON = 500;

function reasonOf(error: unknown): string {
  const said = error instanceof Error ? error.message : String(error);
  return printableLine(said).slice(0, LONGEST_REASON).replace(/\.$/, '');
}

/** Runs a hook for each message. It is text and not a file, because each program is a single file. */
const PROGRAM = `
  const { parentPort, workerData } = require('node:worker_threads');
  const post = parentPort.postMessage.bind(parentPort);
  const { parse, stringify } = JSON;
  const decode = TextDecoder.prototype.decode.bind(new TextDecoder());
  const encode = TextEncoder.prototype.encode.bind(new TextEncoder());
  const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
  const KINDS = {
    beforeCall: { member: 'arguments', expected: '{"arguments": {…}}', isRight: isObject },
    afterCall: {
      member: 'result',
      expected: '{"result": {"content": […]}}',
      isRight: (result) => isObject(result) && (result.content === undefined || Array.isArray(result.content)),
    },
  };
  const answerTo = (name, returned, texts) => {
    if (returned === undefined || returned === null) return {};
    const text = stringify(returned);
    if (text === undefined) throw new Error('it returned a ' + typeof returned);
    const { member, expected, isRight } = KINDS[name];
    const { refuse, [member]: given, ...others } = Object(parse(text));
    if (typeof refuse === 'string') return { refuse };
    if (refuse !== undefined || !isRight(given) || Object.keys(others).length > 0)
      throw new Error('it must return nothing, ' + expected + ' or {"refuse": "reason"}');
    const json = stringify(given);
    return json === texts[member] ? {} : { json: encode(json) };
  };
  let loading;
  const load = async () => {
    const module = await import(workerData);
    const inner = module.default;
    return typeof inner === 'object' && inner !== null && '__esModule' in inner ? inner : module;
  };
  parentPort.on('message', async ({ id, name, event, values, ping }) => {
    if (ping) return post({ pong: true });
    try {
      const texts = {};
      const given = parse(event);
      for (const [member, bytes] of values) given[member] = parse((texts[member] = decode(bytes)));
      const returned = await (await (loading ??= load()))[name](given);
      const answer = answerTo(name, returned, texts);
      post({ id, ...answer }, answer.json === undefined ? [] : [answer.json.buffer]);
    } catch (error) {
      let message = 'it threw something that has no message';
      try {
        message = String(error instanceof Error ? error.message : error) || message;
      } catch {}
      post({ id, error: message.slice(0, 2000) });
    }
  });
`;
