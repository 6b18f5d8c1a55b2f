import type { SwitchboardError } from '../../shared/errors.ts';
import { wireAnswer, type Call, type ClientLink, type Session } from '../../gateway/index.ts';
import {
  Client,
  isJsonObject,
  kindListedBy,
  MAY_REQUIRE_INPUT,
  RESOURCE_NOT_FOUND,
  Server,
  severity,
  type JsonObject,
} from '../../protocol/index.ts';
import {
  memberText,
  jsonMembers,
  type Message,
  RpcCode,
  withMembers,
  type AnswerListener,
  type Edit,
} from '../../wire/index.ts';
import type { StatelessClients } from './stateless-clients.ts';
import { PendingInputs, type InputCarrier, type PendingInput } from './pending-inputs.ts';
import type { Suspendable } from './suspended-requests.ts';
import { hasResultMeta, withModernMeta, modernResult, modernResultText } from './modern-meta.ts';
import type { Attempt, AttemptHandler } from './attempt.ts';

/** Input requests within this time go into one answer, in milliseconds. */
const BATCH_MS = 10;

/**
 * One request of a modern client, over all its attempts. When its server sends a request, the attempt is answered with
 * `input_required` and the call is suspended; the client returns with the input in its next attempt.
 */
export class ModernRequest implements AttemptHandler, InputCarrier, ClientLink, Suspendable {
  readonly modern = true;
  readonly listens = false;
  readonly principal: object;
  readonly capabilities: JsonObject;
  readonly session: Session;
  readonly #clients: StatelessClients;
  readonly #logLevel: string | undefined;
  readonly #method: string;
  readonly #call: Call;
  /** Undefined while the client is away. */
  #attempt: Attempt | undefined;
  /** The inputs for its client; created for the first one unless they are shared. */
  #inputs: PendingInputs | undefined;
  /** Whether it has been answered or cancelled. */
  #finished = false;
  #askTimer: NodeJS.Timeout | undefined;
  /** The `requestState` of the client while it is away. */
  #state = '';
  /** The answer that came while the client was away. */
  #heldAnswer: ((attempt: Attempt) => void) | undefined;

  constructor(
    clients: StatelessClients,
    attempt: Attempt,
    method: string,
    capabilities: JsonObject,
    logLevel: string | undefined,
  ) {
    this.#clients = clients;
    this.principal = clients.principalOf(this);
    this.#attempt = attempt;
    this.capabilities = capabilities;
    this.#logLevel = logLevel;
    this.#method = method;
    this.#inputs = clients.inputs;
    this.session = clients.sessionFor(this);
    this.session.logLevel = logLevel;
    this.#call = this.session.open(attempt.request, method);
  }

  /** Routes it. */
  run(): void {
    this.#clients.gateway.handle(this.#call);
  }

  get bytes(): number {
    let bytes = this.#call.request.length;
    for (const { request } of this.#pendingInputs()) bytes += request.length;
    return bytes;
  }

  get congested(): boolean {
    return this.#attempt?.channel.congested ?? false;
  }

  whenDrained(listener: () => void): void {
    if (this.#attempt) this.#attempt.channel.whenDrained(listener);
    else listener();
  }

  /** Whether a retry is the same request: its state must not be used for another one. */
  matches(request: Message): boolean {
    return subjectOf(request) === subjectOf(this.#call.request);
  }

  /** The client is back. Its inputs go to the server; missing ones are requested again. */
  resume(attempt: Attempt): void {
    this.#attempt = attempt;
    const responses = attempt.request.text(Client.inputResponses);
    const given = new Map(
      (responses?.startsWith('{') === true ? jsonMembers(responses) : []).map(({ key, valueText }) => [
        key,
        oneLine(valueText),
      ]),
    );
    this.#call.suspend(false);
    this.#inputs?.answered(this, given);
    const heldAnswer = this.#heldAnswer;
    this.#heldAnswer = undefined;
    if (heldAnswer) this.#answerAttempt(heldAnswer);
    else if (this.#pendingInputs().length > 0) this.deliver();
  }

  /** The client has cancelled it. */
  cancel(reason: string | undefined): void {
    clearTimeout(this.#askTimer);
    this.#attempt = undefined;
    this.#finished = true;
    this.#inputs?.leave(this);
    this.#call.cancel(reason);
  }

  stop(): void {
    this.session.failAll();
  }

  /** The client has not come back. */
  expire(): void {
    this.cancel('The client did not return with an answer.');
  }

  ask(request: Message, listener: AnswerListener): number {
    this.#inputs ??= new PendingInputs(() => [this]);
    return this.#inputs.ask(request, listener, this);
  }

  withdraw(id: number): void {
    this.#inputs?.withdraw(id);
  }

  /** The inputs that it has to deliver. */
  #pendingInputs(): PendingInput[] {
    return this.#inputs?.for(this) ?? [];
  }

  /** List changes go to subscriptions/listen. */
  notify(): void {
    // Not part of this request.
  }

  forwardAnswer(answer: Message, _call: Call, edits: readonly Edit[]): void {
    const attempt = this.#attempt;
    // The hot path: a modern server's answer needs no additions.
    if (attempt !== undefined && hasResultMeta(answer, this.#method)) {
      this.#attempt = undefined;
      attempt.channel.forwardAnswer(answer, attempt.request, edits);
      this.#finish(attempt);
      return;
    }
    const { info } = this.#clients;
    const done = withModernMeta(answer, edits, this.#method, info);
    const { length } = done.answer;
    this.#answerAttempt(
      ({ channel, request }) => channel.forwardAnswer(done.answer, request, done.edits),
      length,
    );
  }

  answer(_call: Call, result: JsonObject): void {
    this.#answerWithText(modernResult(result, this.#method, this.#clients.info));
  }

  answerText(_call: Call, resultText: string): void {
    const kind = kindListedBy(this.#method);
    const ttlMs = kind === undefined || kind === 'tasks' ? undefined : this.#clients.gateway.freshFor(kind);
    this.#answerWithText(modernResultText(resultText, this.#method, this.#clients.info, ttlMs));
  }

  fail(call: Call, error: SwitchboardError): void {
    if (error.code === 'INTERNAL') {
      const cause = error.cause instanceof Error ? error.cause.stack : String(error.cause);
      this.#clients.log.error(error.message, { cause });
    }
    const answer = wireAnswer(error, call.method, false);
    if (answer.kind === 'result') this.answer(call, answer.result);
    else {
      const code = MODERN_CODES.get(answer.code) ?? answer.code;
      this.#answerAttempt(({ channel, request }) =>
        channel.fail(request.text(Client.id)!, code, answer.message),
      );
    }
  }

  forwardNotification(notification: Message, edits: readonly Edit[], call?: Call): void {
    const attempt = this.#attempt;
    // A client that is away gets no notifications.
    if (attempt === undefined) return;
    const method = notification.string(Server.method);
    if (method === 'notifications/message' && !this.#wants(notification)) return;
    if (method !== 'notifications/progress' || call === undefined || attempt.request === call.request) {
      attempt.channel.forward(notification, edits);
      return;
    }
    // Progress continues under the token of the current attempt.
    const token = attempt.request.text(Client.progressToken);
    if (token === undefined) return;
    const start = notification.start(Server.progressToken);
    attempt.channel.forward(notification, [
      { start, end: notification.end(Server.progressToken), with: token },
    ]);
  }

  #wants(notification: Message): boolean {
    return (
      this.#logLevel !== undefined && severity(notification.string(Server.level)) >= severity(this.#logLevel)
    );
  }

  #answerWithText(resultText: string): void {
    const { length } = resultText;
    this.#answerAttempt(({ channel, id }) => channel.answerText(id, resultText), length);
  }

  /** Answers the current attempt, or holds the answer of this size until the client is back. */
  #answerAttempt(answer: (attempt: Attempt) => void, bytes = 0): void {
    const attempt = this.#attempt;
    if (attempt === undefined) {
      this.#heldAnswer = this.#clients.suspended.addBytes(this.#state, bytes) ? answer : failLost;
      return;
    }
    this.#attempt = undefined;
    answer(attempt);
    this.#finish(attempt);
  }

  #finish(attempt: Attempt): void {
    if (this.#askTimer !== undefined) {
      clearTimeout(this.#askTimer);
      this.#askTimer = undefined;
    }
    attempt.finish();
    this.#finished = true;
    this.#inputs?.leave(this);
  }

  get mayRequireInput(): boolean {
    return MAY_REQUIRE_INPUT.has(this.#method) && this.#heldAnswer === undefined && !this.#finished;
  }

  get connected(): boolean {
    return this.#attempt !== undefined;
  }

  /** Requests input shortly; more may follow at the same time. */
  deliver(): void {
    if (this.#attempt !== undefined) this.#askTimer ??= setTimeout(() => this.#askNow(), BATCH_MS);
  }

  #askNow(): void {
    this.#askTimer = undefined;
    const attempt = this.#attempt;
    const inputs = this.#pendingInputs();
    if (attempt === undefined || inputs.length === 0) return;
    const state = this.#clients.suspended.add(this);
    if (state === undefined) {
      // No room for another suspended request.
      this.#inputs?.refuse(this);
      return;
    }
    const requests = inputs.map(({ key, request }) => `${JSON.stringify(key)}:${asInput(request)}`);
    const result = modernResultText(
      `{"resultType":"input_required","inputRequests":{${requests.join(',')}},"requestState":${JSON.stringify(state)}}`,
      'input_required',
      this.#clients.info,
    );
    this.#state = state;
    this.#attempt = undefined;
    attempt.channel.answerText(attempt.id, result);
    attempt.finish();
    // Its server does not work on the call while the client is away.
    this.#call.suspend(true);
  }
}

/** The held answers exceed their limit. */
function failLost({ channel, id }: Attempt): void {
  const message = 'The response arrived while the client was away, and there was no room to keep it.';
  channel.fail(id, RpcCode.internalError, message);
}

/** A server's request as a value of `inputRequests`. */
function asInput(request: Message): string {
  const method = request.text(Server.method)!;
  const given = request.text(Server.params);
  // The modern era has no elicitationId: a client learns of completion by its retry.
  const params = given?.startsWith('{') === true ? withMembers(given, { elicitationId: undefined }) : given;
  return `{"method":${method}${params === undefined ? '' : `,"params":${oneLine(params)}`}}`;
}

/** Method, name or URI, and arguments: these must be the same in a retry. */
function subjectOf(request: Message): string {
  const params = request.text(Client.params) ?? '';
  const args = params.startsWith('{') ? memberText(params, 'arguments') : undefined;
  return canonical([
    request.string(Client.method),
    request.string(Client.name),
    request.string(Client.uri),
    args === undefined ? undefined : JSON.parse(args),
  ]);
}

/** The same text for equal values, whatever the order of their members. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    isJsonObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );
}

function oneLine(json: string): string {
  return json.replace(/[\n\r]/g, ' ');
}

/** This era has given up the range that these codes are from. */
const MODERN_CODES: ReadonlyMap<number, number> = new Map([
  [RpcCode.serverError, RpcCode.internalError],
  [RESOURCE_NOT_FOUND, RpcCode.invalidParams],
]);
