import { SwitchboardError } from '../shared/errors.ts';
import { isObject } from '../shared/is-object.ts';
import { inLaterTurn } from '../shared/turns.ts';
import { Client, Server, SERVER_SHAPE, type JsonObject } from '../protocol/index.ts';
import { editedText, MAX_PARSED, Message, type Edit } from '../wire/index.ts';
import { correctAnswer, correctToolAnswer } from './answers.ts';
import type { ResultLimits, ResultReader } from './results.ts';
import type { Session } from './session.ts';
import type { Source } from './source.ts';

/** What currently runs a call, such as a queue or a request to a server. */
export interface Runner {
  /** The answer is no longer wanted. */
  cancelled(reason: string | undefined): void;
  /**
   * The client has left with a request for input (`away`) or is back with the input. Meanwhile the server does not work
   * on the call.
   */
  suspended?(away: boolean): void;
}

/** Follows a call on its way to its server and back. */
export interface CallFollower {
  /** Our own code makes another call on behalf of this one. It has not been sent yet. */
  nested(call: Call): void;
  /** The call waits: its server is starting, is being listed, or is at its limit. May be reported more than once. */
  waits(): void;
  /** The call is being sent to the server. */
  sent(server: string): void;
  /** The server has answered or will not answer any more. */
  returned(): void;
}

/** Returns the text of an answer, cut to about `most` bytes if it is longer. */
export type AnswerText = (most: number) => string;

/**
 * One request of one client while it runs: it is answered exactly once, reports progress on the way, and passes a
 * cancellation on to its runner.
 */
export class Call {
  readonly session: Session;
  /** The request as received, or as a follower replaced it before it was routed. */
  request: Message;
  readonly method: string;
  /** Called once with the outcome, the size of the answer in bytes, and a function that reads its beginning. */
  onEnd: ((outcome: string, bytes: number, answer: AnswerText) => void) | undefined = undefined;
  /** Reads the answer on its way to the client and returns further edits to it. */
  onAnswer: ((answer: Message) => readonly Edit[]) | undefined = undefined;
  /** Reverts what was done in advance; runs unless the call succeeds. */
  undo: (() => void) | undefined = undefined;
  /** Its follower, if it has one. */
  follower: CallFollower | undefined = undefined;
  /** How long it waited before it reached its source, in milliseconds. */
  waitedMs = 0;
  /** Links of the session's list of running calls; managed by the session. */
  before: Call | undefined = undefined;
  after: Call | undefined = undefined;
  #source: Source | undefined = undefined;
  #subject: () => string = unnamed;
  #subtool: string | undefined = undefined;
  #argsSlot = Client.arguments;
  #runner: Runner | undefined = undefined;
  #limits: ResultLimits | undefined = undefined;
  #reader: ResultReader = 'resource';
  #mostBytes = Infinity;
  #review: Review | undefined = undefined;
  #open = true;

  constructor(session: Session, request: Message, method: string) {
    this.session = session;
    this.request = request;
    this.method = method;
  }

  /**
   * Sets the call's destination. Only the code that routes the call does this, before handing it to the source: a task
   * or link named in the answer belongs to the source that the gateway knows, even if another source works behind it.
   * `subject` describes the call in messages to people and is computed when needed, `subtool` is the tool under the
   * name its client used, and `argsSlot` is the slot of its arguments in the request.
   */
  assign(
    source: Source | undefined,
    subject: () => string,
    subtool?: string,
    argsSlot: number = Client.arguments,
  ): void {
    this.#source = source;
    this.#subject = subject;
    this.#subtool = subtool;
    this.#argsSlot = argsSlot;
  }

  /** Adds a follower to those the call already has. */
  followBy(follower: CallFollower): void {
    this.follower = this.follower === undefined ? follower : both(this.follower, follower);
  }

  /** Hands the call to another runner, which is notified of a cancellation; undefined: to none. */
  runBy(runner: Runner | undefined): void {
    this.#runner = runner;
  }

  /** Limits the length of its result and sets how its client reads the rest. Default: no limit. */
  limitResult(limits: ResultLimits, reader: ResultReader): void {
    this.#limits = limits;
    this.#reader = reader;
  }

  /** Limits the size of its answer in bytes; a larger one becomes an error. Default: no limit. */
  limitBytes(most: number): void {
    this.#mostBytes = most;
  }

  /** Has its result reviewed before the client gets it. Default: no review. */
  reviewBy(review: Review): void {
    this.#review = review;
  }

  /** The source that answers it; undefined if there is none. */
  get source(): Source | undefined {
    return this.#source;
  }

  /** Describes the call in messages to people. */
  subject(): string {
    return this.#subject();
  }

  get subtool(): string | undefined {
    return this.#subtool;
  }

  /** The tool's arguments as the client wrote them: JSON bytes, in pieces. Empty if there are none. */
  argumentsPieces(): readonly Buffer[] {
    const { request } = this;
    const slot = this.#argsSlot;
    // Models often pass the arguments as JSON inside a string; no tool accepts a longer one.
    const isShort = request.end(slot) - request.start(slot) <= MAX_PARSED;
    const inner = isShort ? request.string(slot) : undefined;
    return inner === undefined ? (request.pieces(slot) ?? []) : [Buffer.from(inner)];
  }

  /** False once it is answered or cancelled; anything that arrives later is dropped. */
  get open(): boolean {
    return this.#open;
  }

  /** The id of the request, as JSON text exactly as received. */
  get id(): string {
    return this.request.text(Client.id) ?? 'null';
  }

  /** Answers with a source's response, unchanged except for the edits. */
  relay(answer: Message): void {
    if (this.#failsForLength(answer.length)) return;
    if (this.#review !== undefined) {
      this.#reviewed(answer, (reviewed) => this.relay(reviewed));
      return;
    }
    if (this.#limits !== undefined && answer.length > this.#limits.passBytes) {
      void this.#fit(answer, this.#limits).then((edits) => this.#relay(answer, edits));
      return;
    }
    // It was just scanned. Deriving the missing content of a long one is left to a later turn of the event loop.
    if (answer.length > MAX_PARSED && !answer.has(Server.content)) inLaterTurn(() => this.#relay(answer));
    else this.#relay(answer);
  }

  /** Fails the call if its answer exceeds the limit. Returns whether it did. */
  #failsForLength(bytes: number): boolean {
    if (bytes <= this.#mostBytes) return false;
    this.fail(
      new SwitchboardError(
        'LIMIT_REACHED',
        `A limit of your role is reached: the result has ${bytes} bytes, and ${this.#mostBytes} are allowed.`,
        { hint: 'Ask for less.' },
      ),
    );
    return true;
  }

  /** Continues with the outcome of the review. */
  #reviewed(answer: Message, goOn: (answer: Message) => void): void {
    const review = this.#review;
    this.#review = undefined;
    void review?.(answer).then((reviewed) => {
      if (reviewed instanceof SwitchboardError) this.fail(reviewed);
      else goOn(reviewed);
    });
  }

  #fit(answer: Message, limits: ResultLimits): Promise<readonly Edit[]> {
    return limits.results.fit(answer, this, limits, this.#reader);
  }

  /** `fitted` are the edits that shorten it to its limits. */
  #relay(answer: Message, fitted: readonly Edit[] = NONE): void {
    if (!this.#open) return;
    let edits =
      this.method === 'tools/call'
        ? correctToolAnswer(answer, this.#subject)
        : correctAnswer(answer, this.#subject);
    if (this.onAnswer !== undefined && !(edits instanceof SwitchboardError)) {
      // Tool calls never have a listener that changes the answer, so the two lists do not overlap.
      const more = this.onAnswer(answer);
      if (more.length > 0) edits = more;
    }
    // Only content is shortened, and an answer with content needs no other correction.
    if (fitted.length > 0) edits = fitted;
    const source = this.#source;
    if (source !== undefined && this.method === 'tools/call') this.session.recordLinks(answer, source);
    if (answer.has(Server.task)) this.session.claimTask(answer.string(Server.taskId), source);
    else if (this.session.client.modern === true && isModernTask(answer))
      this.session.claimTask(answer.string(Server.modernTaskId), source);
    if (!(edits instanceof SwitchboardError) && !answer.has(Server.error)) this.undo = undefined;
    this.#close();
    this.onEnd?.(edits instanceof SwitchboardError ? edits.code : outcomeOf(answer), answer.length, (most) =>
      edits instanceof SwitchboardError
        ? edits.explained
        : (answer.text(Server.result, most) ?? answer.text(Server.error, most) ?? ''),
    );
    const { client } = this.session;
    if (edits instanceof SwitchboardError) client.fail(this, edits);
    else client.forwardAnswer(answer, this, edits);
  }

  /** Answers with a result of our own making. */
  succeed(result: JsonObject): void {
    if (this.#review !== undefined || this.#mostBytes < Infinity) {
      this.succeedWith(JSON.stringify(result));
      return;
    }
    this.undo = undefined;
    if (this.#limits !== undefined) {
      this.#succeedWithin(JSON.stringify(result), this.#limits);
      return;
    }
    if (!this.#close()) return;
    if (this.onEnd !== undefined) {
      const text = JSON.stringify(result);
      this.onEnd(result.isError === true ? 'tool error' : 'ok', text.length, () => text);
    }
    this.session.client.answer(this, result);
  }

  /** The same for a result that may be too long, from a source inside this program. */
  #succeedWithin(resultText: string, limits: ResultLimits): void {
    this.#limits = undefined;
    const answer = answerOf(resultText);
    if (answer.length <= limits.passBytes) this.succeedWith(resultText);
    else
      void this.#fit(answer, limits).then((edits) =>
        this.succeedWith(editedText(answer, edits).slice(BEFORE_RESULT.length, -1)),
      );
  }

  /** The same for a result that is already JSON text. */
  succeedWith(resultText: string): void {
    if (this.#failsForLength(resultText.length)) return;
    if (this.#review !== undefined) {
      this.#reviewed(answerOf(resultText), (reviewed) =>
        this.succeedWith(reviewed.requiredText(Server.result)),
      );
      return;
    }
    this.undo = undefined;
    if (this.#limits !== undefined) {
      this.#succeedWithin(resultText, this.#limits);
      return;
    }
    if (!this.#close()) return;
    this.onEnd?.('ok', resultText.length, () => resultText);
    this.session.client.answerText(this, resultText);
  }

  /** Answers with an error; the door translates it for its protocol version. */
  fail(error: SwitchboardError): void {
    if (!this.#close()) return;
    this.onEnd?.(error.code, error.explained.length, () => error.explained);
    this.session.client.fail(this, error);
  }

  /** Passes a source's notification on to the client that made this call. */
  notify(notification: Message, edits: readonly Edit[]): void {
    if (this.#open) this.session.client.forwardNotification(notification, edits, this);
  }

  /** The client has cancelled the call: no answer is sent. */
  cancel(reason: string | undefined): void {
    if (!this.#close()) return;
    this.onEnd?.('cancelled', 0, () => '');
    this.#runner?.cancelled(reason);
  }

  /** The client has left with a request for input, or is back with it. */
  suspend(away: boolean): void {
    this.#runner?.suspended?.(away);
  }

  /** Gives up on the call: the client gets the error, and the runner stops. */
  abort(error: SwitchboardError, reason = 'Switchboard is stopping.'): void {
    if (!this.#close()) return;
    this.onEnd?.(error.code, error.explained.length, () => error.explained);
    this.session.client.fail(this, error);
    this.#runner?.cancelled(reason);
  }

  #close(): boolean {
    if (!this.#open) return false;
    this.#open = false;
    this.session.ended(this);
    this.undo?.();
    return true;
  }
}

function both(first: CallFollower, second: CallFollower): CallFollower {
  const all = [first, second];
  return {
    nested: (call) => all.forEach((each) => each.nested(call)),
    waits: () => all.forEach((each) => each.waits()),
    sent: (server) => all.forEach((each) => each.sent(server)),
    returned: () => all.forEach((each) => each.returned()),
  };
}

/**
 * Reviews an answer with a result. Resolves with the answer for the client, or with the error it gets instead. Never
 * rejects.
 */
type Review = (answer: Message) => Promise<Message | SwitchboardError>;

const BEFORE_RESULT = '{"jsonrpc":"2.0","id":0,"result":';

/** Wraps a result of our own in a response, like a server's. */
function answerOf(resultText: string): Message {
  return Message.fromText(`${BEFORE_RESULT}${resultText}}`, SERVER_SHAPE);
}

/** The outcome of a call for the log, derived from its answer. */
function outcomeOf(answer: Message): string {
  if (answer.has(Server.error)) return 'error';
  const result = answer.value(Server.result);
  return isObject(result) && result.isError === true ? 'tool error' : 'ok';
}

/** Whether a result is a task of the modern era. Checks for "complete" first because nearly all results are. */
function isModernTask(answer: Message): boolean {
  return !answer.spells(Server.resultType, COMPLETE) && answer.string(Server.resultType) === 'task';
}

const NONE: readonly Edit[] = [];

const COMPLETE = Buffer.from('"complete"');

const unnamed = (): string => 'The request';
