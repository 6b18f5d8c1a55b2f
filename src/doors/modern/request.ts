import { isDeepStrictEqual } from 'node:util';
import type { SwitchboardError } from '../../shared/errors.ts';
import {
  wireAnswer,
  type Call,
  type ClientDescription,
  type ClientLink,
  type Session,
} from '../../gateway/index.ts';
import {
  Client,
  kindListedBy,
  MAY_REQUIRE_INPUT,
  RESOURCE_NOT_FOUND,
  Server,
  severity,
  type JsonObject,
} from '../../protocol/index.ts';
import {
  jsonMembers,
  onOneLine,
  type Message,
  RpcCode,
  withMembers,
  type AnswerListener,
  type Edit,
} from '../../wire/index.ts';
import { describeClient } from '../describe-client.ts';
import type { Attempt, AttemptHandler } from './attempt.ts';
import type { ModernEndpoint } from './endpoint.ts';
import {
  hasResultMeta,
  withModernMeta,
  modernListText,
  modernResult,
  modernResultText,
} from './modern-meta.ts';
import { PendingInputs, type InputCarrier, type PendingInput } from './pending-inputs.ts';
import type { Suspendable } from './suspended-requests.ts';

/** Input requests within this time are sent in one answer, in milliseconds. */
const BATCH_MS = 10;

/**
 * The state of a request: its client waits for the answer to an attempt, has left to get input, or the request is
 * finished. The attempt itself is a state, because nearly all requests have no other before they finish.
 */
type RequestState = Attempt | ClientAway | typeof FINISHED;

/** The client was told that input is required, and has not retried yet. */
interface ClientAway {
  readonly kind: 'away';
  /** The `requestState` that its retry must carry. */
  readonly requestState: string;
  /** Sends the answer that arrived meanwhile. */
  heldAnswer?: (attempt: Attempt) => void;
}

/** Answered or cancelled. */
const FINISHED = { kind: 'finished' } as const;
const NO_CAPABILITIES: JsonObject = {};

/**
 * One request of a modern client, across all its attempts. If its server sends a request, the attempt is answered with
 * `input_required` and the call is suspended; the client returns with the input in its next attempt.
 */
export class ModernRequest implements AttemptHandler, InputCarrier, ClientLink, Suspendable {
  readonly modern = true;
  readonly listens = false;
  readonly principal: object;
  capabilities: JsonObject;
  readonly session: Session;
  readonly #endpoint: ModernEndpoint;
  /** Undefined once it is finished: its session may be kept longer, but the bytes of the request must not be. */
  #call: Call | undefined;
  #state: RequestState;
  /** The inputs for its client; created for the first input, unless shared. */
  #inputs: PendingInputs | undefined;

  constructor(endpoint: ModernEndpoint, attempt: Attempt, method: string, capabilities: JsonObject) {
    this.#endpoint = endpoint;
    this.#state = attempt;
    this.capabilities = capabilities;
    this.#inputs = endpoint.inputs;
    this.session = endpoint.sessionFor(this);
    this.principal = this.session.principal;
    this.#call = this.session.open(attempt.request, method);
  }

  describe(request: Message | undefined = this.#call?.request): ClientDescription {
    return {
      ...describeClient(request?.value(Client.clientInfo), request?.string(Client.version)),
      principal: this.#endpoint.principal,
    };
  }

  /** Routes the request. */
  run(): void {
    if (this.#call) this.#endpoint.gateway.handle(this.#call);
  }

  get bytes(): number {
    let bytes = this.#call?.request.length ?? 0;
    for (const { request } of this.#pendingInputs()) bytes += request.length;
    return bytes;
  }

  get congested(): boolean {
    return this.#state.kind === 'attempt' && this.#state.channel.congested;
  }

  whenDrained(listener: () => void): void {
    if (this.#state.kind === 'attempt') this.#state.channel.whenDrained(listener);
    else listener();
  }

  /** Whether a retry is the same request: a state must not be used for another one. */
  matches(request: Message): boolean {
    const first = this.#call?.request;
    return first !== undefined && isDeepStrictEqual(subjectOf(request), subjectOf(first));
  }

  /** The client is back. Its inputs go to the server, and missing ones are requested again. */
  resume(attempt: Attempt): void {
    const before = this.#state;
    this.#state = attempt;
    const responses = attempt.request.text(Client.inputResponses);
    const given = new Map(
      (responses?.startsWith('{') === true ? jsonMembers(responses) : []).map(({ key, valueText }) => [
        key,
        onOneLine(valueText),
      ]),
    );
    this.#call?.suspend(false);
    this.#inputs?.answered(this, given);
    if (before.kind === 'away' && before.heldAnswer) this.#answer(before.heldAnswer);
    else if (this.#pendingInputs().length > 0) this.deliver();
  }

  /** The client has cancelled it. */
  cancel(reason: string | undefined): void {
    const call = this.#call;
    this.#finish();
    this.#inputs?.leave(this);
    call?.cancel(reason);
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

  /** List changes are sent to subscriptions/listen instead. */
  notify(): void {
    // Not part of this request.
  }

  forwardAnswer(answer: Message, { method }: Call, edits: readonly Edit[]): void {
    const attempt = this.#state;
    // The hot path: a modern server's answer needs no additions.
    if (attempt.kind === 'attempt' && hasResultMeta(answer, method)) {
      this.#finish();
      attempt.channel.forwardAnswer(answer, attempt.request, edits);
      this.#answered(attempt);
      return;
    }
    const done = withModernMeta(answer, edits, method, this.#endpoint.serverInfo);
    const { length } = done.answer;
    this.#answer(({ channel, request }) => channel.forwardAnswer(done.answer, request, done.edits), length);
  }

  answer({ method }: Call, result: JsonObject): void {
    this.#answerWithText(modernResult(result, method, this.#endpoint.serverInfo));
  }

  answerText({ method }: Call, resultText: string): void {
    const { gateway, serverInfo } = this.#endpoint;
    const kind = kindListedBy(method);
    const ttlMs = kind === undefined || kind === 'tasks' ? undefined : gateway.freshFor(kind);
    this.#answerWithText(
      kind === undefined
        ? modernResultText(resultText, method, serverInfo)
        : modernListText(resultText, method, serverInfo, ttlMs),
    );
  }

  fail(call: Call, error: SwitchboardError): void {
    if (error.code === 'INTERNAL') {
      const cause = error.cause instanceof Error ? error.cause.stack : String(error.cause);
      this.#endpoint.log.error(error.message, { cause });
    }
    const answer = wireAnswer(error, call.method, false);
    if (answer.kind === 'result') this.answer(call, answer.result);
    else {
      const code = MODERN_CODES.get(answer.code) ?? answer.code;
      this.#answer(({ channel, id }) => channel.fail(id, code, answer.message));
    }
  }

  forwardNotification(notification: Message, edits: readonly Edit[], call?: Call): void {
    const attempt = this.#state;
    // A client that has left with an input request gets no notifications.
    if (attempt.kind !== 'attempt') return;
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
    const { logLevel } = this.session;
    return logLevel !== undefined && severity(notification.string(Server.level)) >= severity(logLevel);
  }

  #answerWithText(resultText: string): void {
    this.#answer(({ channel, id }) => channel.answerText(id, resultText), resultText.length);
  }

  /** Answers the current attempt. If the client has left, holds the answer, of this size, until it is back. */
  #answer(answer: (attempt: Attempt) => void, bytes = 0): void {
    const state = this.#state;
    if (state.kind === 'away')
      state.heldAnswer = this.#endpoint.suspended.addBytes(state.requestState, bytes) ? answer : failLost;
    else if (state.kind === 'attempt') {
      this.#finish();
      answer(state);
      this.#answered(state);
    }
  }

  #finish(): void {
    this.#state = FINISHED;
    this.#call = undefined;
    this.capabilities = NO_CAPABILITIES;
  }

  #answered(attempt: Attempt): void {
    this.#endpoint.answered(attempt);
    this.#inputs?.leave(this);
  }

  get mayRequireInput(): boolean {
    const state = this.#state;
    if (state.kind === 'finished' || !MAY_REQUIRE_INPUT.has(this.#call?.method ?? '')) return false;
    return state.kind === 'attempt' || state.heldAnswer === undefined;
  }

  get connected(): boolean {
    return this.#state.kind === 'attempt';
  }

  /** Requests input after a short delay, because more may follow. */
  deliver(): void {
    const attempt = this.#state;
    if (attempt.kind === 'attempt') setTimeout(() => this.#requireInput(attempt), BATCH_MS);
  }

  #requireInput(attempt: Attempt): void {
    const inputs = this.#pendingInputs();
    // It may have been answered meanwhile, or the input may have been sent with an earlier answer.
    if (this.#state !== attempt || inputs.length === 0) return;
    const requestState = this.#endpoint.suspended.add(this);
    if (requestState === undefined) {
      // No room for another suspended request.
      this.#inputs?.refuse(this);
      return;
    }
    const requests = inputs.map(({ key, request }) => `${JSON.stringify(key)}:${asInput(request)}`);
    const result = modernResultText(
      `{"resultType":"input_required","inputRequests":{${requests.join(',')}},"requestState":${JSON.stringify(requestState)}}`,
      'input_required',
      this.#endpoint.serverInfo,
    );
    this.#state = { kind: 'away', requestState };
    this.#endpoint.answer(attempt, result);
    // Its server does not work on the call until the client is back.
    this.#call?.suspend(true);
  }
}

/** Fails an attempt because the held answers exceed their limit. */
function failLost({ channel, id }: Attempt): void {
  const message = 'The response arrived while the client was away, and there was no room to keep it.';
  channel.fail(id, RpcCode.internalError, message);
}

/** A server's request as a value of `inputRequests`. */
function asInput(request: Message): string {
  const method = request.requiredText(Server.method);
  const given = request.text(Server.params);
  // The modern era has no elicitationId: a client signals completion with its retry.
  const params = given?.startsWith('{') === true ? withMembers(given, { elicitationId: undefined }) : given;
  return `{"method":${method}${params === undefined ? '' : `,"params":${onOneLine(params)}`}}`;
}

/** The method, the name or URI, and the arguments: these must be the same in a retry. */
function subjectOf(request: Message): readonly unknown[] {
  const { method, name, uri } = Client;
  const args = request.value(Client.arguments) ?? request.text(Client.arguments);
  return [...[method, name, uri].map((slot) => request.string(slot)), args];
}

/** The modern codes for errors whose old codes are in a range that this era has given up. */
const MODERN_CODES: ReadonlyMap<number, number> = new Map([
  [RpcCode.serverError, RpcCode.internalError],
  [RESOURCE_NOT_FOUND, RpcCode.invalidParams],
]);
