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
  membersOf,
  type Message,
  RpcCode,
  withMembers,
  type AnswerListener,
  type Edit,
} from '../../wire/index.ts';
import type { ModernHome } from './home.ts';
import { Desk, type Carrier, type Question } from './desk.ts';
import type { Waiting } from './parked.ts';
import { isModernAlready, stamped, stampedResult, stampedText } from './stamp.ts';
import type { Turn } from './turn.ts';

/** Questions that come so close together are put in one answer, in milliseconds. */
const TOGETHER = 10;

/**
 * One request of a modern client, over all the turns it takes. When its server asks something, the request is answered
 * with the question and the call goes on waiting; the client brings the answer with its next turn, a request of its own.
 */
export class ModernRequest implements Carrier, ClientLink, Waiting {
  readonly modern = true;
  readonly principal: object;
  readonly capabilities: JsonObject;
  readonly session: Session;
  readonly #home: ModernHome;
  readonly #logLevel: string | undefined;
  readonly #method: string;
  readonly #call: Call;
  /** Undefined while the client is away. */
  #turn: Turn | undefined;
  /** Where the questions to its client lie; its own is made for the first of them. */
  #desk: Desk | undefined;
  /** Whether it has been answered, or is not wanted any more. */
  #over = false;
  #asking: NodeJS.Timeout | undefined;
  /** What the client has to come back with, while it is away. */
  #state = '';
  /** What came while the client was away. */
  #kept: ((turn: Turn) => void) | undefined;

  constructor(
    home: ModernHome,
    turn: Turn,
    method: string,
    capabilities: JsonObject,
    logLevel: string | undefined,
  ) {
    this.#home = home;
    this.principal = home.personOf(this);
    this.#turn = turn;
    this.capabilities = capabilities;
    this.#logLevel = logLevel;
    this.#method = method;
    this.#desk = home.desk;
    this.session = home.sessionFor(this);
    this.session.logLevel = logLevel;
    this.#call = this.session.open(turn.request, method);
  }

  /** Takes it to where it is answered. */
  run(): void {
    this.#home.gateway.handle(this.#call);
  }

  get bytes(): number {
    let bytes = this.#call.request.length;
    for (const { request } of this.#questions()) bytes += request.length;
    return bytes;
  }

  get congested(): boolean {
    return this.#turn?.peer.outbox.congested ?? false;
  }

  whenDrained(listener: () => void): void {
    if (this.#turn) this.#turn.peer.outbox.whenDrained(listener);
    else listener();
  }

  /** Whether a request that comes back is about the same as this one: nobody uses its state for something else. */
  concerns(request: Message): boolean {
    return subjectOf(request) === subjectOf(this.#call.request);
  }

  /** The client is back. What it was asked and has answered is passed on; what it has not is asked again. */
  resume(turn: Turn): void {
    this.#turn = turn;
    const responses = turn.request.text(Client.inputResponses);
    const given = new Map(
      (responses?.startsWith('{') === true ? membersOf(responses) : []).map(({ key, valueText }) => [
        key,
        oneLine(valueText),
      ]),
    );
    this.#call.runner?.suspended?.(false);
    this.#desk?.answered(this, given);
    const kept = this.#kept;
    this.#kept = undefined;
    if (kept) this.#settle(kept);
    else if (this.#questions().length > 0) this.bring();
  }

  /** The client does not want it any more. */
  cancel(reason: string | undefined): void {
    clearTimeout(this.#asking);
    this.#turn = undefined;
    this.#over = true;
    this.#desk?.leave(this);
    this.#call.cancel(reason);
  }

  /** The client has not come back. */
  expire(): void {
    this.cancel('The client did not come back with an answer.');
  }

  /** Gives it up with an error, for the program is stopping. */
  get call(): Call {
    return this.#call;
  }

  ask(request: Message, listener: AnswerListener): number {
    this.#desk ??= new Desk(() => [this]);
    return this.#desk.ask(request, listener, this);
  }

  withdraw(id: number): void {
    this.#desk?.withdraw(id);
  }

  /** What it is to bring. */
  #questions(): Question[] {
    return this.#desk?.for(this) ?? [];
  }

  /** Lists are listened to by a request of their own. */
  notify(): void {
    // Nothing of that belongs to this request.
  }

  forwardAnswer(answer: Message, _call: Call, edits: readonly Edit[]): void {
    const turn = this.#turn;
    // As nearly every answer of a server of this era comes: there is nothing to add and nobody away.
    if (turn !== undefined && isModernAlready(answer, this.#method)) {
      this.#turn = undefined;
      turn.peer.forwardAnswer(answer, turn.request, edits);
      this.#settled(turn);
      return;
    }
    const { info } = this.#home;
    const done = stamped(answer, edits, this.#method, info);
    const { length } = done.answer;
    this.#settle(({ peer, request }) => peer.forwardAnswer(done.answer, request, done.edits), length);
  }

  answer(_call: Call, result: JsonObject): void {
    this.#settleWith(stampedResult(result, this.#method, this.#home.info));
  }

  answerText(_call: Call, resultText: string): void {
    const kind = kindListedBy(this.#method);
    const ttlMs = kind === undefined || kind === 'tasks' ? undefined : this.#home.gateway.freshFor(kind);
    this.#settleWith(stampedText(resultText, this.#method, this.#home.info, ttlMs));
  }

  fail(call: Call, error: SwitchboardError): void {
    if (error.code === 'INTERNAL') {
      const cause = error.cause instanceof Error ? error.cause.stack : String(error.cause);
      this.#home.log.error(error.message, { cause });
    }
    const answer = wireAnswer(error, call.method, false);
    if (answer.kind === 'result') this.answer(call, answer.result);
    else {
      const code = MODERN_CODES.get(answer.code) ?? answer.code;
      this.#settle(({ peer, request }) => peer.fail(request.text(Client.id), code, answer.message));
    }
  }

  forwardNotification(notification: Message, edits: readonly Edit[], call?: Call): void {
    const turn = this.#turn;
    // Whoever is away hears nothing of the way there.
    if (turn === undefined) return;
    const method = notification.string(Server.method);
    if (method === 'notifications/message' && !this.#wants(notification)) return;
    if (method !== 'notifications/progress' || call === undefined || turn.request === call.request) {
      turn.peer.outbox.forward(notification, edits);
      return;
    }
    // It goes on under the token of the turn that the client is in now.
    const token = turn.request.text(Client.progressToken);
    if (token === undefined) return;
    const start = notification.start(Server.progressToken);
    turn.peer.outbox.forward(notification, [
      { start, end: notification.end(Server.progressToken), with: token },
    ]);
  }

  #wants(notification: Message): boolean {
    return (
      this.#logLevel !== undefined && severity(notification.string(Server.level)) >= severity(this.#logLevel)
    );
  }

  #settleWith(resultText: string): void {
    const { length } = resultText;
    this.#settle(({ peer, request }) => peer.answerText(request.text(Client.id)!, resultText), length);
  }

  /** Answers the turn the client is in, or keeps the answer until it is back, which takes so many bytes. */
  #settle(answer: (turn: Turn) => void, bytes = 0): void {
    const turn = this.#turn;
    if (turn === undefined) {
      this.#kept = this.#home.parked.grow(this.#state, bytes) ? answer : tellLost;
      return;
    }
    this.#turn = undefined;
    answer(turn);
    this.#settled(turn);
  }

  #settled(turn: Turn): void {
    if (this.#asking !== undefined) {
      clearTimeout(this.#asking);
      this.#asking = undefined;
    }
    turn.over();
    this.#over = true;
    this.#desk?.leave(this);
  }

  get mayAsk(): boolean {
    return MAY_REQUIRE_INPUT.has(this.#method) && this.#kept === undefined && !this.#over;
  }

  get present(): boolean {
    return this.#turn !== undefined;
  }

  /** There is a question; others may follow in the same breath. */
  bring(): void {
    if (this.#turn !== undefined) this.#asking ??= setTimeout(() => this.#askNow(), TOGETHER);
  }

  #askNow(): void {
    this.#asking = undefined;
    const turn = this.#turn;
    const questions = this.#questions();
    if (turn === undefined || questions.length === 0) return;
    const state = this.#home.parked.add(this);
    if (state === undefined) {
      // There is no room for one more to wait.
      this.#desk?.refuse(this);
      return;
    }
    const requests = questions.map(({ key, request }) => `${JSON.stringify(key)}:${asInput(request)}`);
    const result = stampedText(
      `{"resultType":"input_required","inputRequests":{${requests.join(',')}},"requestState":${JSON.stringify(state)}}`,
      'input_required',
      this.#home.info,
    );
    this.#state = state;
    this.#turn = undefined;
    turn.peer.answerText(turn.request.text(Client.id)!, result);
    turn.over();
    // Its server works at nothing as long as the client is away.
    this.#call.runner?.suspended?.(true);
  }
}

/** Too many answers wait for clients that are away. */
function tellLost({ peer, request }: Turn): void {
  const message = 'The answer came while the client was away, and there was no room to keep it.';
  peer.fail(request.text(Client.id), RpcCode.internalError, message);
}

/** A server's request as it stands among the inputs that are required. */
function asInput(request: Message): string {
  const method = request.text(Server.method)!;
  const given = request.text(Server.params);
  // The modern era has no name for a question that is answered elsewhere: the client learns by coming back.
  const params = given?.startsWith('{') === true ? withMembers(given, { elicitationId: undefined }) : given;
  return `{"method":${method}${params === undefined ? '' : `,"params":${oneLine(params)}`}}`;
}

/** Method, name or address, and arguments: what must be the same when a client comes back. */
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

/** The same text for the same value, in whatever order its members were written. */
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
