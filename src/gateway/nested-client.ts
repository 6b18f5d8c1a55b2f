import { isObject } from '../shared/is-object.ts';
import { Client, CLIENT_SHAPE, Server, SERVER_SHAPE, severity, type JsonObject } from '../protocol/index.ts';
import { Message, type AnswerListener, type Edit } from '../wire/index.ts';
import type { Call } from './call.ts';
import { Session, type ClientDescription, type ClientLink } from './session.ts';
import { WaitingClient, type PendingAnswer } from './waiting-client.ts';

/** One running call of a tool. */
interface NestedCall extends PendingAnswer {
  readonly call: Call;
  readonly tool: string;
}

export interface NestedCallOptions {
  /** The params of `tools/call` without `_meta`, as the JSON text of an object with at least one member. */
  readonly params: string;
  /** The tool's name in progress reports. */
  readonly tool: string;
  /** Sends the call. */
  readonly send: (call: Call) => void;
  readonly signal: AbortSignal;
}

/**
 * A client inside this program that calls tools while it works on a call of a real client. Servers see the capabilities
 * of that client; their requests and notifications go to it.
 */
export abstract class NestedClient extends WaitingClient<NestedCall> implements ClientLink {
  /** The call it works on. */
  readonly outer: Call;
  /** The real client's capabilities that servers may use; the others are about its own requests. */
  readonly capabilities: JsonObject;
  readonly principal: object;
  readonly session: Session;
  /** Callbacks for when a server's question is over, by the id it got at the client. */
  readonly #questions = new Map<number, () => void>();
  #questioned: (answered: Promise<unknown>) => void = () => undefined;
  /** The real client's progress token, as JSON text; undefined if it wants no progress. */
  readonly #token: string | undefined;
  #steps = 0;
  #lastId = 0;

  constructor(outer: Call) {
    super();
    this.outer = outer;
    this.principal = outer.session.principal;
    const declared = Object.entries(outer.session.client.capabilities);
    this.capabilities = Object.fromEntries(declared.filter(([name]) => ASKABLE.has(name)));
    this.session = new Session(this, outer.session, this.principal);
    this.session.logLevel = outer.session.logLevel;
    outer.session.whenReady(() => this.session.ready());
    const token = outer.request.text(Client.progressToken);
    this.#token = token !== undefined && /^["\d-]/.test(token) ? token : undefined;
  }

  describe(): ClientDescription {
    const { outer } = this;
    const via = outer.subtool ?? outer.request.string(Client.name);
    return { ...outer.session.client.describe?.(outer.request), via };
  }

  /** Makes a call. Rejects with a ServerError if the server refuses, and also when the signal aborts. */
  protected callTool({ params, tool, send, signal }: NestedCallOptions): Promise<JsonObject> {
    const id = String(++this.#lastId);
    const withMeta = `${params.slice(0, -1)},"_meta":{"progressToken":${id}}}`;
    const request = Message.fromText(
      `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":${withMeta}}`,
      CLIENT_SHAPE,
    );
    return new Promise<JsonObject>((resolve, reject) => {
      const call = this.session.open(request, 'tools/call');
      this.outer.follower?.nested(call);
      const stop = (): void => {
        call.cancel('The parent request was cancelled.');
        this.take(call)?.reject(asError(signal.reason));
      };
      const over = (): void => signal.removeEventListener('abort', stop);
      this.waiting.set(id, {
        call,
        tool,
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
      send(call);
    });
  }

  /** Reports to the client what is being done now, if it wants progress. */
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

  /** The client has left with a question, or is back: what servers do for it waits as well. */
  waits(away: boolean): void {
    for (const { call } of this.waiting.values()) call.suspend(away);
  }

  get congested(): boolean {
    return this.outer.session.client.congested;
  }

  whenDrained(listener: () => void): void {
    this.outer.session.client.whenDrained(listener);
  }

  /** Calls back for each question of a server; the promise resolves when the question is over. */
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

  forwardNotification(notification: Message, edits: readonly Edit[], call?: Call): void {
    const method = notification.string(Server.method);
    if (method === 'notifications/progress') {
      const running = call && this.waiting.get(call.id);
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
