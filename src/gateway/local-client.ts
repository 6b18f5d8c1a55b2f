import { SwitchboardError } from '../shared/errors.ts';
import { isObject } from '../shared/is-object.ts';
import { CLIENT_SHAPE, type JsonObject } from '../protocol/index.ts';
import { editedText, Message, type AnswerListener, type Edit } from '../wire/index.ts';
import type { Call } from './call.ts';
import { Session, type ClientLink } from './session.ts';
import type { Source } from './source.ts';

/** A server's own JSON-RPC error, as it gave it. */
export class ServerError extends SwitchboardError {
  readonly rpcCode: number;
  readonly data: unknown;

  constructor(message: string, rpcCode: number, data: unknown) {
    super('SERVER_ERROR', message);
    this.rpcCode = rpcCode;
    this.data = data;
  }
}

export interface LocalCallOptions {
  /** Called for each progress report, with its params. */
  readonly onProgress?: (params: JsonObject) => void;
  readonly signal?: AbortSignal;
}

interface PendingCall {
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress: ((params: JsonObject) => void) | undefined;
}

/** A client inside this program: the command line uses sources the same way a host does. */
export class LocalClient implements ClientLink {
  readonly congested = false;
  readonly capabilities: JsonObject = {};
  readonly #session = new Session(this);
  readonly #pending = new Map<string, PendingCall>();
  #lastId = 0;

  constructor() {
    this.#session.ready();
  }

  /** Sends one request to a source. Rejects with a ServerError where the server itself refused. */
  request(
    source: Source,
    method: string,
    params: JsonObject,
    options: LocalCallOptions = {},
  ): Promise<JsonObject> {
    const id = ++this.#lastId;
    const _meta = options.onProgress
      ? { ...(params._meta as object | undefined), progressToken: id }
      : params._meta;
    const message = Message.from({ jsonrpc: '2.0', id, method, params: { ...params, _meta } }, CLIENT_SHAPE);
    return new Promise((resolve, reject) => {
      this.#pending.set(String(id), { resolve, reject, onProgress: options.onProgress });
      const call = this.#session.open(message, method);
      const subject = `${typeof params.name === 'string' ? `Tool '${params.name}'` : method} of server '${source.name}'`;
      call.assign(source, () => subject);
      options.signal?.addEventListener('abort', () => {
        call.cancel('The user stopped it.');
        this.#take(String(id))?.reject(new SwitchboardError('CANCELLED', `${subject} was cancelled.`));
      });
      source.request([], call);
    });
  }

  forwardAnswer(answer: Message, call: Call, edits: readonly Edit[]): void {
    const pending = this.#take(call.id);
    const { result, error } = JSON.parse(editedText(answer, edits)) as {
      result: JsonObject;
      error?: unknown;
    };
    if (error === undefined) pending?.resolve(result);
    else pending?.reject(serverError(error));
  }

  forwardNotification(notification: Message, edits: readonly Edit[], call?: Call): void {
    if (call === undefined) return;
    const { params } = JSON.parse(editedText(notification, edits)) as { params: JsonObject };
    this.#pending.get(call.id)?.onProgress?.(params);
  }

  answer(call: Call, result: JsonObject): void {
    this.#take(call.id)?.resolve(result);
  }

  fail(call: Call, error: SwitchboardError): void {
    this.#take(call.id)?.reject(error);
  }

  answerText(call: Call, resultText: string): void {
    this.answer(call, JSON.parse(resultText) as JsonObject);
  }

  /** There is no user behind this client. */
  ask(_request: Message, listener: AnswerListener): number {
    listener.unanswered('closed');
    return 0;
  }

  withdraw(): void {
    // Never asked.
  }

  notify(): void {
    // Lists are asked for when they are needed.
  }

  whenDrained(listener: () => void): void {
    listener();
  }

  #take(id: string): PendingCall | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }
}

/** The error of an answer, in whatever form the server gave it. */
export function serverError(error: unknown): ServerError {
  if (!isObject(error)) return new ServerError(String(error), 0, undefined);
  const message = typeof error.message === 'string' ? error.message : JSON.stringify(error);
  return new ServerError(message, typeof error.code === 'number' ? error.code : 0, error.data);
}
