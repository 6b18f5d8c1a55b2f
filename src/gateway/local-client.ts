import { SwitchboardError } from '../shared/errors.ts';
import { CLIENT_SHAPE, Server, type JsonObject } from '../protocol/index.ts';
import { editedText, Message, type AnswerListener, type Edit } from '../wire/index.ts';
import type { Call } from './call.ts';
import { Session, type ClientDescription, type ClientLink } from './session.ts';
import type { Source } from './source.ts';
import { WaitingClient, type PendingAnswer } from './waiting-client.ts';

export interface LocalCallOptions {
  /** Called for each progress report, with its params. */
  readonly onProgress?: (params: JsonObject) => void;
  readonly signal?: AbortSignal;
  /** Answers a question to the user: takes its params and resolves with its result. Default: there is no user. */
  readonly onQuestion?: (params: JsonObject) => Promise<JsonObject>;
}

interface PendingCall extends PendingAnswer {
  readonly onProgress: ((params: JsonObject) => void) | undefined;
}

/** A client inside this program: the command line uses sources the same way a host does. */
export class LocalClient extends WaitingClient<PendingCall> implements ClientLink {
  readonly congested = false;
  readonly #session = new Session(this);
  #lastId = 0;
  #onQuestion: LocalCallOptions['onQuestion'];

  constructor() {
    super();
    this.#session.ready();
  }

  get capabilities(): JsonObject {
    return this.#onQuestion === undefined ? {} : { elicitation: {} };
  }

  /** Sends one request to a source. Rejects with a ServerError if the server itself refuses. */
  request(
    source: Source,
    method: string,
    params: JsonObject,
    options: LocalCallOptions = {},
  ): Promise<JsonObject> {
    const id = ++this.#lastId;
    this.#onQuestion = options.onQuestion;
    const _meta = options.onProgress
      ? { ...(params._meta as object | undefined), progressToken: id }
      : params._meta;
    const message = Message.from({ jsonrpc: '2.0', id, method, params: { ...params, _meta } }, CLIENT_SHAPE);
    return new Promise((resolve, reject) => {
      this.waiting.set(String(id), { resolve, reject, onProgress: options.onProgress });
      const call = this.#session.open(message, method);
      const subject = `${typeof params.name === 'string' ? `Tool '${params.name}'` : method} of server '${source.name}'`;
      call.assign(source, () => subject);
      options.signal?.addEventListener('abort', () => {
        call.cancel('The user stopped it.');
        this.take(call)?.reject(new SwitchboardError('CANCELLED', `${subject} was cancelled.`));
      });
      source.request([], call);
    });
  }

  protected override parsed(answer: Message, edits: readonly Edit[]) {
    return JSON.parse(editedText(answer, edits)) as { result: JsonObject; error?: unknown };
  }

  forwardNotification(notification: Message, edits: readonly Edit[], call?: Call): void {
    if (call === undefined) return;
    const { params } = JSON.parse(editedText(notification, edits)) as { params: JsonObject };
    this.waiting.get(call.id)?.onProgress?.(params);
  }

  /** Describes our own command line. */
  describe(): ClientDescription {
    return { name: 'switchboard' };
  }

  /** Asks the user, if there is one. */
  ask(request: Message, listener: AnswerListener): number {
    const params = request.value(Server.params);
    const answer =
      request.string(Server.method) === 'elicitation/create' && this.#onQuestion?.(params as JsonObject);
    if (answer)
      answer.then(
        (result) => listener.answered(Message.from({ jsonrpc: '2.0', id: 0, result }, CLIENT_SHAPE)),
        () => listener.unanswered('closed'),
      );
    else listener.unanswered('closed');
    return 0;
  }

  withdraw(): void {
    // The command ends when the call does.
  }

  whenDrained(listener: () => void): void {
    listener();
  }
}
