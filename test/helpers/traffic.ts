import type { RawClient, RpcMessage } from './raw-client.ts';
import { replaceAt, textAt } from './json-text.ts';
import type { ServerCommand } from './temp-project.ts';

/** A message that the client sends. */
export interface Said {
  readonly method: string;
  /**
   * A string is sent unchanged. `$dir` is replaced by the folder of the run, `$name` by what an earlier step kept as
   * `name`.
   */
  readonly params?: string | object;
  /** Default: the number of the step. */
  readonly id?: string | number;
}

export interface Step extends Said {
  /** What the step tries, in a few words that no other step uses. */
  readonly title: string;
  /** No response is expected. */
  readonly notification?: true;
  /** Requests that are sent in the same write. */
  readonly with?: readonly Said[];
  /**
   * How the server's next requests are answered: for each method, texts such as `"result":{…}`. Afterwards, and without
   * this, the replies of the traffic apply.
   */
  readonly replies?: Readonly<Record<string, readonly string[]>>;
  /**
   * The methods of messages that must arrive before the next step, besides the response. A method that is listed twice
   * must arrive twice.
   */
  readonly hears?: readonly string[];
  /** The same for the next text on stderr. */
  readonly stderr?: RegExp;
  /**
   * The call is cancelled, with this reason, as soon as a message with the method `on` arrives. It must get no
   * response.
   */
  readonly cancel?: { readonly on: string; readonly reason: string };
  /** Names for members of the response, to be used in later params: `{ task: ['result', 'task', 'taskId'] }`. */
  readonly keep?: Readonly<Record<string, readonly string[]>>;
  /** The step asks for something of this name, which does not exist. */
  readonly unknown?: string;
}

/** A part that differs from run to run. */
export interface Blur {
  readonly name: string;
  /** Why it differs. */
  readonly why: string;
  readonly find: RegExp;
  /** Default: `<name n>`, where n numbers the different values in order of appearance. */
  readonly as?: (found: string) => string;
}

/** What to send to one server, and what must be known about it. */
export interface Traffic {
  readonly server: string;
  readonly start: (dir: string) => ServerCommand & { readonly env?: Readonly<Record<string, string>> };
  /** Written to `$dir` before the start. */
  readonly files?: Readonly<Record<string, string>>;
  readonly version: string;
  readonly capabilities: object;
  readonly replies: Readonly<Record<string, string>>;
  readonly blurs: readonly Blur[];
  /** Notifications that a timer sends: their number depends on the time a run takes, so they count once. */
  readonly timed?: readonly RegExp[];
  /** The first is `initialize`, whose params are made from the above. */
  readonly steps: readonly Step[];
}

/** What was received, one message each, in order. */
export interface Heard {
  readonly kind: 'answer' | 'progress' | 'question' | 'notification';
  readonly method: string;
  /** The text as received, except for blurs and ids that are not the client's. */
  readonly text: string;
}

export interface Transcript {
  /** By the title of the step: its response with its progress, and the server's requests meanwhile. */
  readonly steps: ReadonlyMap<string, readonly Heard[]>;
  /** Everything else, by method, because what belongs to no call can arrive at any time. */
  readonly notifications: ReadonlyMap<string, readonly Heard[]>;
  /** Responses to cancelled requests, and progress after the response. */
  readonly late: readonly Heard[];
}

/** After this many steps without a response, the rest is skipped. */
const PATIENCE = 3;

/** Plays the traffic, one step after the other, and records what arrives. */
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
  /** The values that a blur has found, with their replacements. */
  readonly #blurred = new Map<string, string>();
  /** The ids of cancelled requests, as text. */
  readonly #cancelled = new Set<string>();
  /** The client's progress tokens, as text, with the ids of their requests. */
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

  /** False if something that had to arrive did not. */
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

  /** Sorts everything that has arrived since the last step. */
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
        // Some servers continue to report after a cancellation: how often depends on the time.
        if (unwanted) continue;
        (ids.includes(id) && !answered.has(id) ? heard : this.#late).push(one);
      } else this.#file(one);
    }
    // Concurrent calls may be answered in any order.
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
