import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { ActionName, Actions, ConsoleEvent, ConsoleState, Topic } from '../../src/console/index.ts';
import { atTestEnd } from './cleanup.ts';
import { RunningProgram } from './http-gateway.ts';
import type { Project } from './temp-project.ts';
import { until } from './until.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface RawRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Sends a request unchanged: no browser and no library corrects its path or headers. */
export function sendRaw(
  origin: string,
  path: string,
  { method = 'GET', headers = {}, body }: RawRequest = {},
) {
  const { hostname, port } = new URL(origin);
  return new Promise<HttpAnswer>((resolve, reject) => {
    const request = httpRequest({ hostname, port, path, method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** The JSON that the program prints when the console can be opened. */
interface ConsoleAnnouncement {
  readonly url: string;
  readonly link: string;
}

/** Starts the built `switchboard console` for the gateways of a project. */
export async function startConsole(project: Project, args: readonly string[] = []): Promise<TestConsole> {
  const program = new RunningProgram(project, { args: ['console', '--no-open', '--json', ...args] });
  const said = (await program.announcement()) as unknown as ConsoleAnnouncement;
  return new TestConsole(said);
}

/** A console, and links to it. */
export class TestConsole {
  readonly origin: string;
  readonly link: string;

  constructor({ url, link }: ConsoleAnnouncement) {
    this.origin = new URL(url).origin;
    this.link = link.slice(this.origin.length);
  }

  /** Follows the link; returns the cookie. */
  async enter(): Promise<string> {
    const { status, headers } = await sendRaw(this.origin, this.link);
    const [cookie] = headers['set-cookie'] ?? [];
    if (status !== 200 || cookie === undefined) throw new Error(`The link was answered with ${status}`);
    return cookie.split(';')[0] ?? '';
  }

  /** A page that is logged in and receives events. */
  async open(): Promise<TestPage> {
    return TestPage.open(this.origin, await this.enter());
  }
}

type Answer<M extends ActionName> =
  | { readonly ok: true; readonly result: Actions[M]['result'] }
  | { readonly ok: false; readonly error: { readonly code: string; readonly message: string } };

/** Does what a page of the console does, without a browser. */
export class TestPage {
  readonly events: ConsoleEvent[] = [];
  readonly #origin: string;
  readonly #cookie: string;
  readonly #stop = new AbortController();

  private constructor(origin: string, cookie: string) {
    this.#origin = origin;
    this.#cookie = cookie;
  }

  static async open(origin: string, cookie: string): Promise<TestPage> {
    const page = new TestPage(origin, cookie);
    const response = await fetch(`${origin}/console/events`, {
      headers: { cookie },
      signal: page.#stop.signal,
    });
    if (response.status !== 200 || response.body === null) throw new Error(`No events: ${response.status}`);
    atTestEnd(() => {
      page.close();
      return Promise.resolve();
    });
    void page.#read(response.body).catch(() => undefined);
    await until(() => page.events.some(({ type }) => type === 'snapshot'), { what: 'the snapshot' });
    return page;
  }

  get state(): ConsoleState {
    const [first] = this.events;
    if (first?.type !== 'snapshot') throw new Error('The first event is no snapshot');
    return first.state;
  }

  /** The most recent event about each gateway, server, client and call. */
  latest<T>(pick: (event: ConsoleEvent) => T | undefined, first: readonly T[]): readonly T[] {
    return [...first, ...this.events.flatMap((event) => pick(event) ?? [])].reverse();
  }

  server(name: string) {
    return this.latest(
      (event) => (event.type === 'server' ? event.server : undefined),
      this.state.servers,
    ).find((server) => server.name === name);
  }

  call(wanted: (call: ConsoleState['calls'][number]) => boolean) {
    return this.latest((event) => (event.type === 'call' ? event.call : undefined), this.state.calls).find(
      wanted,
    );
  }

  /** The only gateway. */
  async gateway(): Promise<string> {
    return until(
      () =>
        this.latest((event) => (event.type === 'gateway' ? event.gateway : undefined), this.state.gateways)[0]
          ?.id,
      { what: 'a gateway' },
    );
  }

  /** Waits until a server is in a state. */
  async untilServer(name: string, kind: string) {
    return until(
      () => {
        const server = this.server(name);
        return server?.state.kind === kind ? server : undefined;
      },
      { what: `${name} ${kind}`, deadline: 30_000, seen: () => JSON.stringify(this.server(name)) },
    );
  }

  async choose(...topics: Topic[]): Promise<void> {
    await this.do('stream.topics', { stream: this.state.stream, topics });
  }

  /** Runs an action that must succeed. */
  async do<M extends ActionName>(method: M, params: Actions[M]['params']): Promise<Actions[M]['result']> {
    const answer = await this.ask(method, params);
    if (answer.ok) return answer.result;
    throw new Error(`${method}: ${answer.error.code}: ${answer.error.message}`);
  }

  async ask<M extends ActionName>(method: M, params: Actions[M]['params']): Promise<Answer<M>> {
    const { text } = await this.send(JSON.stringify({ method, params }));
    return JSON.parse(text) as Answer<M>;
  }

  send(body: string, headers: Readonly<Record<string, string>> = {}): Promise<HttpAnswer> {
    return sendRaw(this.#origin, '/console/actions', {
      method: 'POST',
      headers: { cookie: this.#cookie, 'switchboard-console': '1', ...headers },
      body,
    });
  }

  close(): void {
    this.#stop.abort();
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of body) {
      text += decoder.decode(chunk, { stream: true });
      for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
        const block = text.slice(0, end);
        text = text.slice(end + 2);
        if (block.startsWith('data: ')) this.events.push(...(JSON.parse(block.slice(6)) as ConsoleEvent[]));
      }
    }
  }
}
