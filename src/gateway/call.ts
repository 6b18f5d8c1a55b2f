import { SwitchboardError } from '../shared/errors.ts';
import { isObject } from '../shared/is-object.ts';
import { Client, Server, type JsonObject } from '../protocol/index.ts';
import type { Edit, Message } from '../wire/index.ts';
import { correctAnswer, correctToolAnswer } from './answers.ts';
import type { Session } from './session.ts';
import type { Source } from './source.ts';

/** Runs a call at the moment, such as a queue or a request to a server. */
export interface Runner {
  /** Nobody wants the answer any more. */
  cancelled(reason: string | undefined): void;
  /** The client left with a request for input (`away`), or is back with it. The server does not work on the call meanwhile. */
  suspended?(away: boolean): void;
}

/**
 * One request of one client while it runs: it is answered exactly once, reports progress on the way, and passes a
 * cancellation on to its runner.
 */
export class Call {
  readonly session: Session;
  /** The request as it came. */
  readonly request: Message;
  readonly method: string;
  /** Called once with the outcome and the size of the answer in bytes. */
  onEnd: ((outcome: string, bytes: number) => void) | undefined = undefined;
  /** Reads the answer on its way to the client and returns further edits to it. */
  onAnswer: ((answer: Message) => readonly Edit[]) | undefined = undefined;
  /** Reverts what was done in advance; runs unless the call succeeds. */
  undo: (() => void) | undefined = undefined;
  /** Its neighbours among the running calls of its session; the session sets them. */
  before: Call | undefined = undefined;
  after: Call | undefined = undefined;
  #source: Source | undefined = undefined;
  #subject: () => string = unnamed;
  #subtool: string | undefined = undefined;
  #runner: Runner | undefined = undefined;
  #open = true;

  constructor(session: Session, request: Message, method: string) {
    this.session = session;
    this.request = request;
    this.method = method;
  }

  /**
   * Says where the call goes. Only the one who routes it does so, before it hands the call to the source: what an answer
   * names, a task or a link, belongs to the source as the gateway knows it, whatever source works behind that one.
   * `subject` is what messages to people call it, computed when needed; `subtool` the tool by the name its client used.
   */
  assign(source: Source | undefined, subject: () => string, subtool?: string): void {
    this.#source = source;
    this.#subject = subject;
    this.#subtool = subtool;
  }

  /** Hands the call over to another runner, which hears of a cancellation; undefined: to none. */
  runBy(runner: Runner | undefined): void {
    this.#runner = runner;
  }

  /** The source that answers it, where that is one. */
  get source(): Source | undefined {
    return this.#source;
  }

  /** What the call is about, for messages to people. */
  subject(): string {
    return this.#subject();
  }

  get subtool(): string | undefined {
    return this.#subtool;
  }

  /** False once it is answered or cancelled; what comes after that is dropped. */
  get open(): boolean {
    return this.#open;
  }

  /** The request's id as JSON text, as it came. */
  get id(): string {
    return this.request.text(Client.id) ?? 'null';
  }

  /** Answers with a source's response, byte for byte but for its edits. */
  relay(answer: Message): void {
    if (!this.#open) return;
    let edits =
      this.method === 'tools/call'
        ? correctToolAnswer(answer, this.#subject)
        : correctAnswer(answer, this.#subject);
    if (this.onAnswer !== undefined && !(edits instanceof SwitchboardError)) {
      // No tool call has such a listener that changes the answer, so the two lists never meet.
      const more = this.onAnswer(answer);
      if (more.length > 0) edits = more;
    }
    const source = this.#source;
    if (source !== undefined && this.method === 'tools/call') this.session.recordLinks(answer, source);
    if (answer.has(Server.task)) this.session.claimTask(answer.string(Server.taskId), source);
    else if (this.session.client.modern === true && isModernTask(answer))
      this.session.claimTask(answer.string(Server.modernTaskId), source);
    if (!(edits instanceof SwitchboardError) && !answer.has(Server.error)) this.undo = undefined;
    this.#close();
    this.onEnd?.(edits instanceof SwitchboardError ? edits.code : outcomeOf(answer), answer.length);
    const { client } = this.session;
    if (edits instanceof SwitchboardError) client.fail(this, edits);
    else client.forwardAnswer(answer, this, edits);
  }

  /** Answers with a result of our own making. */
  succeed(result: JsonObject): void {
    this.undo = undefined;
    if (!this.#close()) return;
    this.onEnd?.(result.isError === true ? 'tool error' : 'ok', JSON.stringify(result).length);
    this.session.client.answer(this, result);
  }

  /** The same where the result is JSON text already. */
  succeedWith(resultText: string): void {
    this.undo = undefined;
    if (!this.#close()) return;
    this.onEnd?.('ok', resultText.length);
    this.session.client.answerText(this, resultText);
  }

  /** Answers with an error; the door translates it for its protocol version. */
  fail(error: SwitchboardError): void {
    if (!this.#close()) return;
    this.onEnd?.(error.code, error.explained.length);
    this.session.client.fail(this, error);
  }

  /** Passes a source's notification on to the client that made this call. */
  notify(notification: Message, edits: readonly Edit[]): void {
    if (this.#open) this.session.client.forwardNotification(notification, edits, this);
  }

  /** The client cancelled it: no answer is sent. */
  cancel(reason: string | undefined): void {
    if (!this.#close()) return;
    this.onEnd?.('cancelled', 0);
    this.#runner?.cancelled(reason);
  }

  /** The client is away with a request for input, or back with it. */
  suspend(away: boolean): void {
    this.#runner?.suspended?.(away);
  }

  /** We give it up: the client gets the error, and the runner stops. */
  abort(error: SwitchboardError): void {
    if (!this.#close()) return;
    this.onEnd?.(error.code, error.explained.length);
    this.session.client.fail(this, error);
    this.#runner?.cancelled('Switchboard is stopping.');
  }

  #close(): boolean {
    if (!this.#open) return false;
    this.#open = false;
    this.session.ended(this);
    this.undo?.();
    return true;
  }
}

/** The outcome of a call for the log, from its answer. */
function outcomeOf(answer: Message): string {
  if (answer.has(Server.error)) return 'error';
  const result = answer.value(Server.result);
  return isObject(result) && result.isError === true ? 'tool error' : 'ok';
}

/** Whether a result is a task of the modern era. The check for "complete" comes first because nearly all are. */
function isModernTask(answer: Message): boolean {
  return !answer.spells(Server.resultType, COMPLETE) && answer.string(Server.resultType) === 'task';
}

const COMPLETE = Buffer.from('"complete"');

const unnamed = (): string => 'The request';
