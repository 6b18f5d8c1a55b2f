import { SwitchboardError } from '../shared/errors.ts';
import { Client, isJsonObject, Server, type JsonObject } from '../protocol/index.ts';
import type { Edit, Message } from '../wire/index.ts';
import { correctAnswer, correctToolAnswer } from './answers.ts';
import type { Session } from './session.ts';
import type { Source } from './source.ts';

/** Whoever runs a call at the moment; told when nobody wants its answer any more. */
export interface Runner {
  cancelled(reason: string | undefined): void;
  /** The client has been asked something and is away with it, or is back: nobody works at the call meanwhile. */
  suspended?(away: boolean): void;
}

/**
 * One request of one client while it runs. Whatever happens to it happens here: the answer, which is given once;
 * progress on the way; and its cancellation, which whoever runs it hears of.
 */
export class Call {
  readonly session: Session;
  /** The request as it came. */
  readonly request: Message;
  readonly method: string;
  /** What the call is about, for messages to people; whoever routes it says so, and it is asked for only when needed. */
  subject: () => string = unnamed;
  runner: Runner | undefined = undefined;
  /** The tool of a server that it runs, by the name its client used. */
  subtool: string | undefined = undefined;
  /** Told once how it ended and how many bytes the answer has; set only where somebody wants to know. */
  onEnd: ((outcome: string, bytes: number) => void) | undefined = undefined;
  /** Who runs it, where that is one source. */
  source: Source | undefined = undefined;
  /** Looks at the answer on its way to the client, and says what else has to change in it. */
  onAnswer: ((answer: Message) => readonly Edit[]) | undefined = undefined;
  /** Takes back what was done for it in advance; runs unless it succeeds. */
  undo: (() => void) | undefined = undefined;
  /** Its neighbours among the running calls of its session. */
  before: Call | undefined = undefined;
  after: Call | undefined = undefined;
  /** False once it is answered or cancelled; what comes after that is dropped. */
  open = true;

  constructor(session: Session, request: Message, method: string) {
    this.session = session;
    this.request = request;
    this.method = method;
  }

  /** The request's id as JSON text, as it came. */
  get id(): string {
    return this.request.text(Client.id)!;
  }

  /** Answers with what a source answered, passed on as it came. */
  relay(answer: Message): void {
    if (!this.open) return;
    let edits =
      this.method === 'tools/call'
        ? correctToolAnswer(answer, this.subject)
        : correctAnswer(answer, this.subject);
    if (this.onAnswer !== undefined && !(edits instanceof SwitchboardError)) {
      // Whoever looks at the answer of a tool does not change it.
      const more = this.onAnswer(answer);
      if (more.length > 0) edits = more;
    }
    if (this.source !== undefined && this.method === 'tools/call')
      this.session.recordLinks(answer, this.source);
    if (answer.has(Server.task)) this.session.claimTask(answer.string(Server.taskId), this.source);
    else if (this.session.client.modern === true && isModernTask(answer))
      this.session.claimTask(answer.string(Server.modernTaskId), this.source);
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

  /** Answers that it went wrong; the door puts it in the words of its protocol. */
  fail(error: SwitchboardError): void {
    if (!this.#close()) return;
    this.onEnd?.(error.code, error.explained.length);
    this.session.client.fail(this, error);
  }

  /** Passes a source's notification on to the client that made this call. */
  notify(notification: Message, edits: readonly Edit[]): void {
    if (this.open) this.session.client.forwardNotification(notification, edits, this);
  }

  /** The client gave it up: nobody waits for an answer any more, and none is sent. */
  cancel(reason: string | undefined): void {
    if (!this.#close()) return;
    this.onEnd?.('cancelled', 0);
    this.runner?.cancelled(reason);
  }

  /** We give it up: the client gets the error, and whoever runs it is told to stop. */
  abort(error: SwitchboardError): void {
    if (!this.#close()) return;
    this.onEnd?.(error.code, error.explained.length);
    this.session.client.fail(this, error);
    this.runner?.cancelled('Switchboard is stopping.');
  }

  #close(): boolean {
    if (!this.open) return false;
    this.open = false;
    this.session.ended(this);
    this.undo?.();
    return true;
  }
}

/** What a server's answer says of the call. */
function outcomeOf(answer: Message): string {
  if (answer.has(Server.error)) return 'error';
  const result = answer.value(Server.result);
  return isJsonObject(result) && result.isError === true ? 'tool error' : 'ok';
}

/** Whether a result is a task, as the modern era has them. Nearly all are whole results, which is told fastest. */
function isModernTask(answer: Message): boolean {
  return !answer.spells(Server.resultType, COMPLETE) && answer.string(Server.resultType) === 'task';
}

const COMPLETE = Buffer.from('"complete"');

const unnamed = (): string => 'The request';
