import type { SwitchboardError } from '../shared/errors.ts';
import { isObject } from '../shared/is-object.ts';
import {
  serverError,
  Session,
  withPresets,
  type Call,
  type ClientLink,
  type OfferedTool,
  type Source,
} from '../gateway/index.ts';
import { Client, CLIENT_SHAPE, Server, SERVER_SHAPE, severity, type JsonObject } from '../protocol/index.ts';
import { editedText, Message, type AnswerListener, type Edit } from '../wire/index.ts';
import { askClient } from './ask-client.ts';
import type { AskClient } from './model.ts';

/** One call of a tool that is under way. */
interface Running {
  readonly call: Call;
  readonly tool: string;
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: Error) => void;
}

/**
 * Who calls the tools of a server for the client of one conversation. To the server it can do what that client can: what
 * server requests go there, and so do the server's notifications.
 */
export class InnerClient implements ClientLink {
  /** The call that the conversation is about. */
  readonly outer: Call;
  /** Of a client as servers may use it; what else it can do is about its own requests. */
  readonly capabilities: JsonObject;
  readonly principal: object;
  readonly session: Session;
  /** Asks the client itself something. */
  readonly askClient: AskClient;
  readonly #inner: Source;
  readonly #running = new Map<string, Running>();
  /** How to say that a question of the server is over, by the id it got at the client. */
  readonly #questions = new Map<number, () => void>();
  #questioned: (answered: Promise<unknown>) => void = () => undefined;
  /** The token under which the client wants to hear of progress, as JSON text. */
  readonly #token: string | undefined;
  #steps = 0;
  #lastId = 0;

  constructor(outer: Call, inner: Source) {
    this.outer = outer;
    this.#inner = inner;
    this.principal = outer.session.principal;
    const declared = Object.entries(outer.session.client.capabilities);
    this.capabilities = Object.fromEntries(declared.filter(([name]) => ASKABLE.has(name)));
    this.askClient = askClient(outer.session, this.capabilities);
    this.session = new Session(this, outer.session, this.principal);
    this.session.logLevel = outer.session.logLevel;
    outer.session.whenReady(() => this.session.ready());
    const token = outer.request.text(Client.progressToken);
    this.#token = token !== undefined && /^["\d-]/.test(token) ? token : undefined;
  }

  /** Runs a tool; rejects with a ServerError if the server refuses, and when the request is cancelled. */
  run(tool: OfferedTool, args: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const id = String(++this.#lastId);
    const given = JSON.stringify(args);
    const text = tool.presets === undefined ? given : withPresets(given, tool.presets);
    const params = `{"name":${JSON.stringify(tool.original)},"arguments":${text},"_meta":{"progressToken":${id}}}`;
    const request = Message.fromText(
      `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${params}}`,
      CLIENT_SHAPE,
    );
    return new Promise<JsonObject>((resolve, reject) => {
      const call = this.session.open(request, 'tools/call');
      // What the answer links to is read where the gateway knows the source.
      call.assign(this.outer.source, () => `Tool '${tool.original}' of server '${this.#inner.name}'`);
      const stop = (): void => {
        call.cancel('The parent request was cancelled.');
        this.#take(call)?.reject(asError(signal.reason));
      };
      const over = (): void => signal.removeEventListener('abort', stop);
      this.#running.set(id, {
        call,
        tool: tool.name,
        resolve: (result) => {
          over();
          resolve(result);
        },
        reject: (error) => {
          over();
          reject(error);
        },
      });
      if (signal.aborted) {
        stop();
        return;
      }
      signal.addEventListener('abort', stop);
      this.#inner.request([], call);
    });
  }

  /** Tells the client what is being done now, if it wants to hear that. */
  tell(message: string): void {
    if (this.#token === undefined) return;
    const said = `"progressToken":${this.#token},"progress":${++this.#steps},"message":${JSON.stringify(message)}`;
    this.outer.notify(
      Message.fromText(
        `{"jsonrpc":"2.0","method":"notifications/progress","params":{${said}}}`,
        SERVER_SHAPE,
      ),
      [],
    );
  }

  /** The client is away with a question, or back: what the server does for it waits as well. */
  waits(away: boolean): void {
    for (const { call } of this.#running.values()) call.suspend(away);
  }

  get congested(): boolean {
    return this.outer.session.client.congested;
  }

  whenDrained(listener: () => void): void {
    this.outer.session.client.whenDrained(listener);
  }

  /** Calls back with each question of the server, which is over when the promise resolves. */
  onQuestion(listener: (answered: Promise<unknown>) => void): void {
    this.#questioned = listener;
  }

  ask(request: Message, listener: AnswerListener): number {
    let over = (): void => undefined;
    this.#questioned(new Promise<void>((resolve) => (over = resolve)));
    const id = this.outer.session.client.ask(request, {
      answered: (answer) => {
        over();
        listener.answered(answer);
      },
      unanswered: (reason, error) => {
        over();
        listener.unanswered(reason, error);
      },
    });
    this.#questions.set(id, over);
    return id;
  }

  withdraw(id: number, reason: string): void {
    this.#questions.get(id)?.();
    this.outer.session.client.withdraw(id, reason);
  }

  forwardAnswer(answer: Message, call: Call, edits: readonly Edit[]): void {
    const { result, error } = JSON.parse(editedText(answer, edits)) as {
      result: JsonObject;
      error?: unknown;
    };
    const running = this.#take(call);
    if (error === undefined) running?.resolve(result);
    else running?.reject(serverError(error));
  }

  answer(call: Call, result: JsonObject): void {
    this.#take(call)?.resolve(result);
  }

  answerText(call: Call, resultText: string): void {
    this.answer(call, JSON.parse(resultText) as JsonObject);
  }

  fail(call: Call, error: SwitchboardError): void {
    this.#take(call)?.reject(error);
  }

  forwardNotification(notification: Message, edits: readonly Edit[], call?: Call): void {
    const method = notification.string(Server.method);
    if (method === 'notifications/progress') {
      const running = call && this.#running.get(call.id);
      if (running) this.tell(`${running.tool}: ${progressText(notification.value(Server.params))}`);
      return;
    }
    const { logLevel } = this.session;
    const unwanted =
      method === 'notifications/message' &&
      logLevel !== undefined &&
      severity(notification.string(Server.level)) < severity(logLevel);
    if (!unwanted) this.outer.notify(notification, edits);
  }

  notify(): void {
    // Lists are asked for when they are needed.
  }

  #take({ id }: Call): Running | undefined {
    const running = this.#running.get(id);
    this.#running.delete(id);
    return running;
  }
}

const ASKABLE: ReadonlySet<string> = new Set(['sampling', 'elicitation', 'roots']);

function progressText(params: unknown): string {
  const { message, progress, total } = isObject(params) ? params : {};
  if (typeof message === 'string' && message !== '') return message;
  if (typeof progress !== 'number') return 'at work';
  return typeof total === 'number' ? `${progress} of ${total}` : String(progress);
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
