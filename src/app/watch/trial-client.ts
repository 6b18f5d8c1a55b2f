import {
  Session,
  WaitingClient,
  type Call,
  type ClientLink,
  type PendingAnswer,
} from '../../gateway/index.ts';
import type { TrialEvent } from '../../console/index.ts';
import { CLIENT_SHAPE, Server, type JsonObject } from '../../protocol/index.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import { isObject } from '../../shared/is-object.ts';
import { editedText, Message, type AnswerListener, type Edit } from '../../wire/index.ts';

export interface TrialClientOptions {
  readonly tell: (event: TrialEvent) => void;
}

/** The client for a person who tries a tool in a console, and who answers the server's requests meanwhile. */
export class TrialClient extends WaitingClient<PendingAnswer> implements ClientLink {
  readonly congested = false;
  readonly capabilities: JsonObject = { elicitation: { form: {}, url: {} }, sampling: {} };
  readonly session: Session;
  readonly #tell: TrialClientOptions['tell'];
  readonly #asked = new Map<string, AnswerListener>();
  #lastAsked = 0;

  constructor({ tell }: TrialClientOptions) {
    super();
    this.#tell = tell;
    this.session = new Session(this);
    this.session.ready();
  }

  describe() {
    return { name: 'switchboard console' };
  }

  /** Opens the only call of this client. `done` settles with its result. */
  open(method: string, params: JsonObject): { readonly call: Call; readonly done: Promise<JsonObject> } {
    const withProgress = { ...params, _meta: { progressToken: 1 } };
    const message = Message.from({ jsonrpc: '2.0', id: 1, method, params: withProgress }, CLIENT_SHAPE);
    const call = this.session.open(message, method);
    const done = new Promise<JsonObject>((resolve, reject) => {
      this.waiting.set(call.id, { resolve, reject });
    });
    return { call, done };
  }

  cancel(call: Call): void {
    call.cancel('The user stopped it.');
    this.take(call)?.reject(new SwitchboardError('CANCELLED', 'The call was cancelled.'));
  }

  /** Answers a request of the server. Ignored if the server no longer waits for it. */
  answerRequest(
    request: string,
    answer:
      | { readonly result: JsonObject }
      | { readonly error: { readonly code: number; readonly message: string } },
  ): void {
    const listener = this.#asked.get(request);
    if (listener === undefined) return;
    this.#asked.delete(request);
    listener.answered(Message.from({ jsonrpc: '2.0', id: Number(request), ...answer }, CLIENT_SHAPE));
  }

  /** The person has left and cannot answer any more. */
  leave(): void {
    for (const listener of this.#asked.values()) listener.unanswered('closed');
    this.#asked.clear();
    this.session.cancelAll();
  }

  protected override parsed(answer: Message, edits: readonly Edit[]) {
    return JSON.parse(editedText(answer, edits)) as { result: JsonObject; error?: unknown };
  }

  forwardNotification(notification: Message, edits: readonly Edit[]): void {
    const { method, params } = JSON.parse(editedText(notification, edits)) as JsonObject;
    if (!isObject(params)) return;
    if (method === 'notifications/message')
      this.#tell({ kind: 'log', level: String(params.level), data: params.data });
    if (method !== 'notifications/progress' || typeof params.progress !== 'number') return;
    const { progress, total, message } = params;
    this.#tell({
      kind: 'progress',
      progress,
      total: typeof total === 'number' ? total : null,
      message: typeof message === 'string' ? message : null,
    });
  }

  ask(request: Message, listener: AnswerListener): number {
    const id = ++this.#lastAsked;
    const params = request.value(Server.params);
    this.#asked.set(String(id), listener);
    this.#tell({
      kind: 'request',
      request: String(id),
      method: request.requiredString(Server.method),
      params: isObject(params) ? params : {},
    });
    return id;
  }

  withdraw(id: number): void {
    if (this.#asked.delete(String(id))) this.#tell({ kind: 'request-withdrawn', request: String(id) });
  }

  whenDrained(listener: () => void): void {
    listener();
  }
}
