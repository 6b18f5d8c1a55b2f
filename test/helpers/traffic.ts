import type { RawClient, RpcMessage } from './raw-client.ts';
import { replaceAt, textAt } from './json-text.ts';
import type { ServerCommand } from './temp-project.ts';

/** One thing the client says. */
export interface Said {
  readonly method: string;
  /** Text is sent as it is. `$dir` stands for the folder of the run, `$name` for what an earlier step kept as `name`. */
  readonly params?: string | object;
  /** Default: the number of the step. */
  readonly id?: string | number;
}

export interface Step extends Said {
  /** What is tried, in a few words that no other step has. */
  readonly title: string;
  /** Nothing answers it. */
  readonly notification?: true;
  /** Requests that are sent in the same write. */
  readonly with?: readonly Said[];
  /**
   * How the next questions of the server are answered: per method, a text such as `"result":{…}` for each. Afterwards, and
   * without this, those of the traffic.
   */
  readonly replies?: Readonly<Record<string, readonly string[]>>;
  /** The methods of what must come before the next step, beside the answer. One that is named twice must come twice. */
  readonly hears?: readonly string[];
  /** The same for the next text on stderr. */
  readonly stderr?: RegExp;
  /** The call is cancelled, for this reason, as soon as a message of the method `on` comes. It must stay unanswered. */
  readonly cancel?: { readonly on: string; readonly reason: string };
  /** Names for members of the answer, to be used in later params: `{ task: ['result', 'task', 'taskId'] }`. */
  readonly keep?: Readonly<Record<string, readonly string[]>>;
  /** It asks for something that does not exist, by this name. */
  readonly unknown?: string;
}

/** Something that is another at every run. */
export interface Blur {
  readonly name: string;
  /** Where it comes from. */
  readonly why: string;
  readonly find: RegExp;
  /** Default: `<name n>`, where n tells those found apart, in the order of appearance. */
  readonly as?: (found: string) => string;
}

/** What is said to one server, and what must be known about it. */
export interface Traffic {
  readonly server: string;
  readonly start: (dir: string) => ServerCommand & { readonly env?: Readonly<Record<string, string>> };
  /** Written to `$dir` before the start. */
  readonly files?: Readonly<Record<string, string>>;
  readonly version: string;
  readonly capabilities: object;
  readonly replies: Readonly<Record<string, string>>;
  readonly blurs: readonly Blur[];
  /** Notifications that a timer sends: how many come depends on the time the run takes, so that they count once. */
  readonly timed?: readonly RegExp[];
  /** The first is initialize, whose params are made from the above. */
  readonly steps: readonly Step[];
}

/** What came, one message each, in the order it came. */
export interface Heard {
  readonly kind: 'answer' | 'progress' | 'question' | 'notification';
  readonly method: string;
  /** The text as it came, but for ids that are not the client's own, and blurs. */
  readonly text: string;
}

export interface Transcript {
  /** By the step's title: its answer with its progress, and the questions that the server asked meanwhile. */
  readonly steps: ReadonlyMap<string, readonly Heard[]>;
  /** Everything else, by method: what belongs to no call comes when it comes. */
  readonly notifications: ReadonlyMap<string, readonly Heard[]>;
  /** Answers to what was cancelled, and progress after the answer. */
  readonly late: readonly Heard[];
}

/** Steps without an answer after which the rest is not tried any more. */
const PATIENCE = 3;

/** Says everything in the traffic, a step when the one before is over, and writes down what comes. */
export async function record(client: RawClient, traffic: Traffic, dir: string): Promise<Transcript> {
  const recorder = new Recorder(client, traffic, dir);
  let failures = 0;
  for (const [index, step] of traffic.steps.entries()) {
    if (failures >= PATIENCE) recorder.skip(step);
    else if (!(await recorder.take(step, index + 1))) failures++;
  }
  return recorder.transcript;
}

class Recorder {
  readonly transcript: Transcript;
  readonly #client: RawClient;
  readonly #traffic: Traffic;
  readonly #steps = new Map<string, Heard[]>();
  readonly #notifications = new Map<string, Heard[]>();
  readonly #late: Heard[] = [];
  readonly #kept: Map<string, string>;
  /** What a blur found, and the name it has for it. */
  readonly #blurred = new Map<string, string>();
  /** Ids, as text, of what was cancelled. */
  readonly #cancelled = new Set<string>();
  /** Progress tokens of the client, as text, and the ids of the requests they came with. */
  readonly #tokens = new Map<string, string>();
  #replies: Record<string, string[]> = {};
  #seen = 0;

  constructor(client: RawClient, traffic: Traffic, dir: string) {
    this.#client = client;
    this.#traffic = traffic;
    this.#kept = new Map([['dir', dir]]);
    this.transcript = { steps: this.#steps, notifications: this.#notifications, late: this.#late };
    const asked = new Set(traffic.steps.flatMap(({ replies = {} }) => Object.keys(replies)));
    for (const method of [...asked, ...Object.keys(traffic.replies)]) {
      client.handle(method, (_params, request) => {
        this.#reply(method, request);
        return undefined;
      });
    }
  }

  skip(step: Step): void {
    this.#steps.set(step.title, [note('not tried: too much before it stayed unanswered')]);
  }

  /** False when something that had to come did not. */
  async take(step: Step, number: number): Promise<boolean> {
    const heard: Heard[] = [];
    this.#steps.set(step.title, heard);
    this.#replies = Object.fromEntries(
      Object.entries(step.replies ?? {}).map(([method, texts]) => [method, [...texts]]),
    );
    const start = this.#client.messages.length;
    const stderrStart = this.#client.stderr.length;
    const said = [step, ...(step.with ?? [])].map((one) => ({
      ...one,
      ...(one.method === 'initialize' ? { params: this.#greeting() } : {}),
      id: one.id ?? number,
    }));
    const answers = step.notification || step.cancel ? [] : said.map(({ id }) => this.#client.answerTo(id));
    this.#client.sendRaw(said.map((one) => `${this.#textOf(one, step.notification === true)}\n`).join(''));
    let failure: string | undefined;
    try {
      if (step.cancel) await this.#cancel(step.cancel, said[0]!.id, start);
      const [first] = await Promise.all(answers);
      if (step.method === 'initialize') this.#client.notify('notifications/initialized');
      if (first) this.#keep(step, first);
      await this.#hear(step, start, stderrStart);
    } catch (error) {
      failure = String(error);
    }
    this.#sort(
      heard,
      said.map(({ id }) => JSON.stringify(id)),
    );
    if (failure !== undefined) heard.push(note(failure));
    return failure === undefined;
  }

  #greeting(): object {
    const { version, capabilities } = this.#traffic;
    return {
      protocolVersion: version,
      capabilities,
      clientInfo: { name: 'traffic', version: '0.0.0', title: 'Traffic' },
    };
  }

  #textOf({ method, params, id }: Said, notification: boolean): string {
    const text = params === undefined || typeof params === 'string' ? params : JSON.stringify(params);
    const members = [
      '"jsonrpc":"2.0"',
      ...(notification ? [] : [`"id":${JSON.stringify(id)}`]),
      `"method":${JSON.stringify(method)}`,
      ...(text === undefined ? [] : [`"params":${this.#fill(text)}`]),
    ];
    const whole = `{${members.join(',')}}`;
    const token = textAt(whole, 'params', '_meta', 'progressToken');
    if (token !== undefined) this.#tokens.set(token, JSON.stringify(id));
    return whole;
  }

  #fill(text: string): string {
    return text.replace(/\$([a-z]+)\b/gi, (whole, name: string) => this.#kept.get(name) ?? whole);
  }

  #keep({ keep = {} }: Step, answer: RpcMessage): void {
    for (const [name, path] of Object.entries(keep)) {
      const value: unknown = path.reduce((from: any, key) => from?.[key], answer);
      this.#kept.set(name, String(value));
    }
  }

  #reply(method: string, request: RpcMessage): void {
    const reply = this.#replies[method]?.shift() ?? this.#traffic.replies[method];
    if (reply === undefined) return;
    this.#client.send(`{"jsonrpc":"2.0","id":${JSON.stringify(request.id)},${this.#fill(reply)}}`);
  }

  async #cancel(
    { on, reason }: NonNullable<Step['cancel']>,
    id: string | number,
    start: number,
  ): Promise<void> {
    await this.#client.waitFor(({ method }) => method === on, { from: start });
    this.#cancelled.add(JSON.stringify(id));
    this.#client.notify('notifications/cancelled', { requestId: id, reason });
  }

  async #hear({ hears = [], stderr }: Step, start: number, stderrStart: number): Promise<void> {
    for (const method of new Set(hears)) {
      const wanted = hears.filter((one) => one === method).length;
      const come = (): number =>
        this.#client.messages.slice(start).filter((message) => message.method === method).length;
      await this.#client.waitUntil(() => (come() >= wanted ? true : undefined), `${wanted} ${method}`);
    }
    if (stderr) {
      const look = (): true | undefined => stderr.test(this.#client.stderr.slice(stderrStart)) || undefined;
      await this.#client.waitUntil(look, `stderr to match ${String(stderr)}`);
    }
  }

  /** Puts everything that came since the last step where it belongs. */
  #sort(heard: Heard[], ids: readonly string[]): void {
    const answered = new Set<string | undefined>();
    for (const message of this.#client.messages.slice(this.#seen)) {
      this.#seen++;
      const one = this.#heard(message);
      if (one.kind === 'answer') {
        const id = JSON.stringify(message.id);
        const expected = ids.includes(id) && !this.#cancelled.has(id);
        (expected ? heard : this.#late).push(one);
        answered.add(id);
      } else if (one.kind === 'question') heard.push(one);
      else if (one.kind === 'progress') {
        const id = this.#tokens.get(JSON.stringify(message.params?.progressToken)) ?? '';
        const unwanted =
          this.#cancelled.has(id) && (!ids.includes(id) || heard.some(({ kind }) => kind === 'progress'));
        // Some servers go on reporting when nobody waits any more: how often depends on the time.
        if (unwanted) continue;
        (ids.includes(id) && !answered.has(id) ? heard : this.#late).push(one);
      } else this.#file(one);
    }
    // Several calls at once may be answered in any order.
    if (answered.size > 1) heard.sort((a, b) => (a.text < b.text ? -1 : 1));
  }

  #file(one: Heard): void {
    const same = this.#notifications.get(one.method) ?? [];
    this.#notifications.set(one.method, same);
    const timed = this.#traffic.timed?.some((pattern) => pattern.test(one.text)) ?? false;
    if (!timed || !same.some(({ text }) => text === one.text)) same.push(one);
  }

  #heard(message: RpcMessage): Heard {
    const method = message.method ?? '';
    // White space around a message belongs to the line, not to the message.
    let text = this.#client.wireText(message).trim();
    if (message.method === undefined) return { kind: 'answer', method, text: this.#blur(text) };
    if (message.id === undefined) {
      const kind = method === 'notifications/progress' ? 'progress' : 'notification';
      if (method === 'notifications/cancelled')
        text = replaceAt(text, ['params', 'requestId'], () => '"<an id of the server>"');
      return { kind, method, text: this.#blur(text) };
    }
    text = replaceAt(text, ['id'], () => '"<an id of the server>"');
    text = replaceAt(text, ['params', '_meta', 'progressToken'], () => '"<a token of the server>"');
    return { kind: 'question', method, text: this.#blur(text) };
  }

  #blur(text: string): string {
    let out = text.replaceAll(this.#kept.get('dir')!, '$dir');
    for (const { name, find, as } of this.#traffic.blurs) {
      out = out.replace(find, (found) => {
        if (as) return as(found);
        const key = `${name}:${found}`;
        const alike = [...this.#blurred.keys()].filter((one) => one.startsWith(`${name}:`)).length;
        const nickname = this.#blurred.get(key) ?? `<${name} ${alike + 1}>`;
        this.#blurred.set(key, nickname);
        return nickname;
      });
    }
    return out;
  }
}

function note(text: string): Heard {
  return { kind: 'answer', method: '', text };
}
