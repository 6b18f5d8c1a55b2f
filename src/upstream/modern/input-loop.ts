import { randomUUID } from 'node:crypto';
import type { Deadline, Deadlines } from '../../shared/deadline.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import type { Call, Runner } from '../../gateway/index.ts';
import {
  canElicit,
  requiredCapability,
  MAY_REQUIRE_INPUT,
  Server,
  SERVER_SHAPE,
  type JsonObject,
} from '../../protocol/index.ts';
import {
  jsonMembers,
  memberText,
  Message,
  onOneLine,
  withMembers,
  type Edit,
  type Unanswered,
} from '../../wire/index.ts';
import { errorText } from '../error-answer.ts';

/**
 * What is sent with a call in addition to its client's params, and the deadline of the call on the performance clock.
 */
export interface RetryParams {
  readonly params: ReadonlyMap<'inputResponses' | 'requestState', string>;
  readonly latest: number;
}

/** How often one call may be sent again. */
const MOST_ROUNDS = 10;
/** How many inputs may be requested at one time. */
const MOST_INPUTS = 64;
/** The pause before repeating a call that required no input, in milliseconds: the first and the longest. */
const FIRST_PAUSE = 50;
const LONGEST_PAUSE = 500;

/**
 * A modern server does not send requests to its client: it responds that it needs input first, which ends the call. For
 * a client that knows only server requests, we send these and repeat its call with the responses, until the server has
 * all it needs. The server holds no state in between, so even another process may continue.
 */
export class InputLoops {
  readonly #deadlines: Deadlines;
  readonly #again: (edits: Edit[], call: Call) => void;
  readonly #open = new Set<InputLoop>();
  readonly #carried = new WeakMap<Call, RetryParams & { readonly count: number }>();

  /** `again` sends a call to the server again. */
  constructor(deadlines: Deadlines, again: (edits: Edit[], call: Call) => void) {
    this.#deadlines = deadlines;
    this.#again = again;
  }

  /** The number of calls that wait for a client. */
  get size(): number {
    return this.#open.size;
  }

  carried(call: Call): RetryParams | undefined {
    return this.#carried.get(call);
  }

  /** The server is stopped permanently, so nobody will use the responses. */
  close(why: string): void {
    for (const loop of [...this.#open]) loop.abandon(why);
  }

  /** The server needs input before it can answer a call that was sent with these edits. */
  begin(call: Call, edits: Edit[], answer: Message, latest: number): void {
    const count = (this.#carried.get(call)?.count ?? 0) + 1;
    const inputs =
      count > MOST_ROUNDS
        ? notFinished(call, 'INPUT_REFUSED', `it asked for input more than ${MOST_ROUNDS} times`, BUG_HINT)
        : inputsOf(call, answer);
    if (inputs instanceof SwitchboardError) {
      call.fail(inputs);
      return;
    }
    const state = answer.text(Server.requestState);
    const loop = new InputLoop(call, inputs, latest, {
      deadlines: this.#deadlines,
      pause: inputs.length > 0 ? 0 : Math.min(FIRST_PAUSE * 2 ** (count - 1), LONGEST_PAUSE),
      over: () => this.#open.delete(loop),
      gathered: (responses) => {
        const params = new Map<'inputResponses' | 'requestState', string>();
        if (responses !== undefined) params.set('inputResponses', responses);
        if (state !== undefined) params.set('requestState', state);
        this.#carried.set(call, { params, latest, count });
        this.#again(edits, call);
      },
    });
    this.#open.add(loop);
    loop.ask();
  }
}

/** One input that the server requests. */
interface Input {
  /** As JSON text, as the server wrote it. */
  readonly key: string;
  readonly method: string;
  readonly request: Message;
}

interface RoundControl {
  readonly deadlines: Deadlines;
  /** The pause in milliseconds before the call is repeated if no input is requested. */
  readonly pause: number;
  over(): void;
  /** Called with every response, as the JSON text of an object; undefined if none was requested. */
  gathered(responses: string | undefined): void;
}

/** The requests that one response of the server leads to, until the client has answered them all. */
class InputLoop implements Runner, Deadline {
  readonly at: number;
  place = -1;
  readonly #call: Call;
  readonly #inputs: readonly Input[];
  readonly #control: RoundControl;
  /** The responses, by the key of their request. */
  readonly #responses = new Map<string, string>();
  /** The ids of requests that the client has not answered yet. */
  readonly #asked = new Map<Input, number>();
  #timer: NodeJS.Timeout | undefined;
  #over = false;

  constructor(call: Call, inputs: readonly Input[], latest: number, control: RoundControl) {
    this.#call = call;
    this.#inputs = inputs;
    this.#control = control;
    this.at = latest;
  }

  ask(): void {
    const { session } = this.#call;
    this.#call.runBy(this);
    this.#control.deadlines.add(this);
    if (this.#inputs.length === 0) this.#timer = setTimeout(() => this.#finish(), this.#control.pause);
    else session.whenReady(() => this.#askAll());
  }

  cancelled(reason = 'The parent call was cancelled.'): void {
    this.#end(reason);
  }

  expired(): void {
    this.#end('Timed out.');
    const hint = 'If it needs more time, raise timeouts.callMaxMs in the configuration.';
    const why = 'the client did not provide the input in time';
    this.#call.fail(notFinished(this.#call, 'CALL_TIMEOUT', why, hint));
  }

  abandon(why: string): void {
    this.#end('The server was stopped.');
    const message = `${this.#call.subject()} was not finished. ${why}`;
    this.#call.fail(new SwitchboardError('STOPPING', message));
  }

  #askAll(): void {
    const { client } = this.#call.session;
    for (const input of this.#inputs) {
      // An immediate response may end the loop.
      if (this.#over) return;
      this.#asked.set(input, 0);
      const id = client.ask(input.request, {
        answered: (answer) => this.#answered(input, answer),
        unanswered: (reason) => this.#unanswered(input, reason),
      });
      if (this.#asked.has(input)) this.#asked.set(input, id);
    }
  }

  #answered(input: Input, answer: Message): void {
    this.#asked.delete(input);
    if (this.#over) return;
    const response = responseIn(input, answer);
    if (response instanceof SwitchboardError) this.#fail(input, response.message);
    else {
      this.#responses.set(input.key, response);
      if (this.#responses.size === this.#inputs.length) this.#finish();
    }
  }

  #unanswered(input: Input, reason: Unanswered): void {
    this.#asked.delete(input);
    if (this.#over) return;
    const why = reason === 'closed' ? 'it disconnected' : `its answer was ${reason.replace('-', ' ')}`;
    this.#fail(input, why);
  }

  #fail(input: Input, why: string): void {
    this.#end('Another input request of the same call was not answered.');
    const refused = `the client did not respond to ${input.method} (${why})`;
    this.#call.fail(notFinished(this.#call, 'INPUT_REFUSED', refused));
  }

  #finish(): void {
    if (!this.#close() || !this.#call.open) return;
    const responses = this.#inputs.flatMap(({ key }) => {
      const response = this.#responses.get(key);
      return response === undefined ? [] : [`${key}:${response}`];
    });
    this.#control.gathered(responses.length === 0 ? undefined : `{${responses.join(',')}}`);
  }

  /** The result is no longer needed: cancels the requests that are still open. */
  #end(reason: string): void {
    if (!this.#close()) return;
    for (const id of this.#asked.values()) this.#call.session.client.withdraw(id, reason);
    this.#asked.clear();
  }

  #close(): boolean {
    if (this.#over) return false;
    this.#over = true;
    clearTimeout(this.#timer);
    this.#control.deadlines.remove(this);
    this.#control.over();
    return true;
  }
}

/** The inputs that a response requests; an error if they cannot be requested. */
function inputsOf(call: Call, answer: Message): Input[] | SwitchboardError {
  if (!MAY_REQUIRE_INPUT.has(call.method)) return unusable(call, `${call.method} cannot ask for input`);
  const text = answer.text(Server.inputRequests);
  if (text === undefined) {
    if (answer.has(Server.requestState)) return [];
    return unusable(call, 'it asks for input without saying which');
  }
  const members = text.startsWith('{') ? jsonMembers(text) : undefined;
  const keys = new Set(members?.map(({ key }) => key));
  if (members === undefined || keys.size !== members.length || members.length > MOST_INPUTS)
    return unusable(call, 'its inputRequests are invalid or too many');
  const inputs: Input[] = [];
  for (const { keyText, valueText } of members) {
    const input = inputFrom(call, keyText, valueText);
    if (input instanceof SwitchboardError) return input;
    inputs.push(input);
  }
  return inputs;
}

function inputFrom(call: Call, key: string, text: string): Input | SwitchboardError {
  const named = text.startsWith('{') ? memberText(text, 'method') : undefined;
  const method = named?.startsWith('"') === true ? (JSON.parse(named) as string) : '';
  if (!ASKABLE.has(method)) return unusable(call, `it asks for ${JSON.stringify(method.slice(0, 100))}`);
  const given = memberText(text, 'params');
  const params = forOlderClient(method, given?.startsWith('{') === true ? given : '{}');
  const request = Message.fromText(
    `{"jsonrpc":"2.0","id":0,"method":${JSON.stringify(method)},"params":${onOneLine(params)}}`,
    SERVER_SHAPE,
  );
  const lacking = notDeclared(call.session.client.capabilities, method, request);
  if (lacking === undefined) return { key, method, request };
  const why = `it asks for ${method}, and the client has not declared ${lacking}`;
  return notFinished(call, 'INPUT_REFUSED', why, 'It needs a client that can do this.');
}

/** Older clients require an id for each page that a person is sent to; modern servers no longer assign one. */
function forOlderClient(method: string, params: string): string {
  if (method !== 'elicitation/create' || memberText(params, 'mode') !== '"url"') return params;
  if (memberText(params, 'elicitationId') !== undefined) return params;
  return withMembers(params, { elicitationId: JSON.stringify(randomUUID()) });
}

const ASKABLE = new Set(['elicitation/create', 'sampling/createMessage', 'roots/list']);

/** The capability that the client would have to declare; undefined if it can be asked. */
function notDeclared(capabilities: JsonObject, method: string, request: Message): string | undefined {
  const needed = requiredCapability(method);
  if (needed === undefined) return undefined;
  const declared = capabilities[needed];
  if (declared === undefined || declared === null || declared === false) return `the capability "${needed}"`;
  if (method !== 'elicitation/create') return undefined;
  const mode = request.string(Server.mode);
  return canElicit(capabilities, mode)
    ? undefined
    : `elicitation in mode "${mode === 'url' ? mode : 'form'}"`;
}

/** What is sent to the server, as JSON text. A form that could not be shown counts as not filled in. */
function responseIn({ method }: Input, answer: Message): string | SwitchboardError {
  if (answer.has(Server.error)) {
    if (method === 'elicitation/create') return '{"action":"cancel"}';
    return new SwitchboardError('INPUT_REFUSED', errorText(answer).slice(0, 500));
  }
  const result = answer.text(Server.result);
  return result?.startsWith('{') === true
    ? result
    : new SwitchboardError('INPUT_REFUSED', 'it is not a result');
}

function notFinished(
  call: Call,
  code: 'CALL_TIMEOUT' | 'INPUT_REFUSED',
  why: string,
  hint?: string,
): SwitchboardError {
  return new SwitchboardError(code, `${call.subject()} was not finished: ${why}.`, { hint });
}

function unusable(call: Call, why: string): SwitchboardError {
  return new SwitchboardError(
    'SERVER_ANSWER_UNUSABLE',
    `${call.subject()} returned an unusable response: ${why}.`,
    { hint: BUG_HINT },
  );
}

const BUG_HINT = 'This is a bug in that server; check its log.';
