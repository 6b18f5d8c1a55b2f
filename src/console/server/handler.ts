import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { escapeHtml } from '../../shared/escape-html.ts';
import { isObject } from '../../shared/is-object.ts';
import type { ActionName, ActionResponse, ConsoleEvent, Problem, Topic } from '../protocol.ts';
import { ConsoleAccess } from './access.ts';
import { checkRequest, isFromElsewhere } from './check-request.ts';
import { ConsoleModel } from './model.ts';
import type { PageFile } from './page-files.ts';
import { PageStream } from './page-stream.ts';
import { readBody } from './read-body.ts';

/** The longest body of an action, in bytes. */
const MOST_BODY = 4 * 1024 * 1024;
/** How many pages can be open at a time. */
const MOST_PAGES = 32;
/** How long a new page waits for gateways to report before it gets what is known, in milliseconds. */
const FIRST_MS = 250;

export interface ConsoleOptions {
  readonly version: string;
  readonly readOnly: boolean;
  /**
   * The port of the server. It is part of the cookie's name, because browsers share cookies between all ports of a
   * machine.
   */
  readonly port: () => number;
  /** The files of the page. */
  readonly files: () => ReadonlyMap<string, PageFile>;
  /** Who may use it. Default: browsers with a link of this console. */
  readonly access?: ConsoleAccess;
  /** Called with unexpected errors of our own. */
  readonly failed: (error: unknown) => void;
  /** Provides the data of the page and carries out its actions. */
  readonly backend: (model: ConsoleModel, tell: (events: readonly ConsoleEvent[]) => void) => ConsoleBackend;
}

/** Provides what a page shows, and carries out its actions. */
export interface ConsoleBackend {
  /** The first page was opened; resolves when everything known has been reported. */
  open(): Promise<void>;
  /** The topics that pages have chosen. */
  choose(topics: readonly Topic[]): Promise<void>;
  /** Carries out an action. Rejects with its error. */
  act(method: ActionName, params: Record<string, unknown>, page: string): Promise<unknown>;
  /** A page was closed. */
  left(page: string): void;
  /** The last page was closed. */
  close(): void;
  /** An error as a page shows it. */
  problem(error: unknown): Problem;
}

/** The console: handles the requests below `/console`. */
export class Console {
  readonly #access: ConsoleAccess;
  readonly #options: ConsoleOptions;
  readonly #model = new ConsoleModel();
  readonly #backend: ConsoleBackend;
  readonly #pages = new Map<string, PageStream>();
  #topics = '';
  #opened: Promise<void> | undefined;
  #closing: NodeJS.Timeout | undefined;

  constructor(options: ConsoleOptions) {
    this.#options = options;
    this.#access = options.access ?? new ConsoleAccess();
    this.#backend = options.backend(this.#model, (events) => this.#tell(events));
  }

  /** The path and query of a link that works once. */
  newLink(): string {
    return `/console?link=${this.#access.newLink()}`;
  }

  /** Answers a request below `/console`. Calls `admitted` if it has the cookie. */
  handle(request: IncomingMessage, response: ServerResponse, admitted: () => void = () => undefined): void {
    this.#answer(request, response, admitted).catch((error: unknown) => {
      // A bug, or a file of the page that is gone: only this request fails.
      this.#options.failed(error);
      if (response.headersSent) response.destroy();
      else refuse(response, 500, 'The console failed to respond. See its log.');
    });
  }

  async #answer(request: IncomingMessage, response: ServerResponse, admitted: () => void): Promise<void> {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const refusal = checkRequest(request);
    if (refusal !== undefined) {
      refuse(response, refusal.status, refusal.why);
      return;
    }
    if (this.#admits(request)) admitted();
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const path = pathname.replace(/^\/console/, '').replace(/^\/$/, '');
    if (path === '/actions') await this.#action(request, response);
    else if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('Allow', 'GET, HEAD');
      refuse(response, 405, 'Only GET and HEAD are allowed.');
    } else if (path === '/events') await this.#events(request, response);
    else if (path === '' && searchParams.has('link'))
      this.#enter(searchParams.get('link') ?? '', request, response);
    else this.#file(path, request, response);
  }

  close(): void {
    for (const page of this.#pages.values()) page.end();
    clearTimeout(this.#closing);
    this.#backend.close();
  }

  get #cookieName(): string {
    return `switchboard-console-${this.#options.port()}`;
  }

  #admits({ headers }: IncomingMessage): boolean {
    const prefix = `${this.#cookieName}=`;
    const cookies = (headers.cookie ?? '').split('; ').filter((each) => each.startsWith(prefix));
    return cookies.length === 1 && this.#access.admits(cookies[0]?.slice(prefix.length));
  }

  /** A link was followed: from now on the cookie counts, and no address contains a secret. */
  #enter(link: string, request: IncomingMessage, response: ServerResponse): void {
    // A preview that checks a link before the user follows it must not use it up.
    const cookie = request.method === 'GET' ? this.#access.redeem(link) : undefined;
    if (cookie !== undefined) {
      response.setHeader(
        'Set-Cookie',
        `${this.#cookieName}=${cookie}; Path=/console; HttpOnly; SameSite=Strict`,
      );
    } else if (!this.#admits(request)) {
      sendPage(response, 401, { title: 'This link has expired or was already used', html: NEW_LINK });
      return;
    }
    // Not a redirect: after one that began on another page or program, a browser would not send the cookie.
    const html = '<a href="/console">Open the console</a>';
    sendPage(response, 200, { title: 'Switchboard', html, refresh: '0; url=/console' });
  }

  #file(path: string, request: IncomingMessage, response: ServerResponse): void {
    const file = this.#admits(request) || path !== '' ? this.#options.files().get(path) : undefined;
    // The files of the page are public; without the cookie, the document says how to get in.
    if (path === '' && !this.#admits(request))
      sendPage(response, 401, { title: 'Switchboard console', html: NEW_LINK });
    else if (file === undefined) refuse(response, 404, 'Page not found.');
    else {
      response.writeHead(200, {
        'Content-Type': file.type,
        'Content-Length': file.content.length,
        'Cache-Control': file.fixed ? 'private, max-age=31536000, immutable' : 'no-store',
      });
      response.end(request.method === 'HEAD' ? undefined : file.content);
    }
  }

  async #events(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!this.#admits(request)) refuse(response, 401, 'The cookie is missing or invalid.');
    else if (isFromElsewhere(request)) refuse(response, 403, 'The request comes from another page.');
    else if (this.#pages.size >= MOST_PAGES) refuse(response, 503, 'Too many pages are open.');
    else {
      clearTimeout(this.#closing);
      this.#closing = undefined;
      const { version, readOnly } = this.#options;
      const stream = randomBytes(9).toString('base64url');
      const page = new PageStream(stream, response, () => ({
        type: 'snapshot',
        state: this.#model.state({ stream, version, readOnly }),
      }));
      this.#pages.set(stream, page);
      response.on('close', () => this.#left(page));
      this.#opened ??= this.#backend.open();
      await Promise.race([this.#opened, new Promise((resolve) => setTimeout(resolve, FIRST_MS).unref())]);
      page.begin();
    }
  }

  #left(page: PageStream): void {
    this.#pages.delete(page.id);
    this.#backend.left(page.id);
    void this.#chooseTopics();
    if (this.#pages.size > 0) return;
    // A page that is reloaded finds everything as it was.
    this.#closing = setTimeout(() => {
      this.#opened = undefined;
      this.#backend.close();
      this.#model.clear();
    }, LINGER_MS).unref();
  }

  async #action(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, headers } = request;
    if (method !== 'POST') {
      response.setHeader('Allow', 'POST');
      refuse(response, 405, 'Use POST to send an action.');
    } else if (headers['switchboard-console'] !== '1')
      refuse(response, 403, 'The header switchboard-console is missing.');
    else if (isFromElsewhere(request)) refuse(response, 403, 'The request comes from another page.');
    else if (!this.#admits(request)) refuse(response, 401, 'The cookie is missing or invalid.');
    else {
      const body = await readBody(request, MOST_BODY);
      if (response.destroyed) return;
      if (body === undefined) {
        response.setHeader('Connection', 'close');
        refuse(response, 413, 'The action is too long.');
      } else send(response, 200, JSON.stringify(await this.#act(body)));
    }
  }

  async #act(body: string): Promise<ActionResponse> {
    try {
      const { method, params } = readAction(body);
      if (method === 'stream.topics') return { ok: true, result: await this.#choose(params) };
      const page = typeof params.stream === 'string' ? params.stream : '';
      return { ok: true, result: (await this.#backend.act(method, params, page)) as never };
    } catch (error) {
      return { ok: false, error: this.#backend.problem(error) };
    }
  }

  async #choose({ stream, topics }: Record<string, unknown>): Promise<null> {
    const page = typeof stream === 'string' ? this.#pages.get(stream) : undefined;
    const wanted = Array.isArray(topics) ? topics.filter(isTopic) : [];
    if (page !== undefined) page.topics = new Set(wanted);
    await this.#chooseTopics();
    return null;
  }

  async #chooseTopics(): Promise<void> {
    const wanted = TOPICS.filter((topic) => [...this.#pages.values()].some((page) => page.topics.has(topic)));
    if (wanted.join() === this.#topics) return;
    this.#topics = wanted.join();
    for (const topic of ['calls', 'logs'] as const) if (!wanted.includes(topic)) this.#model.forget(topic);
    await this.#backend.choose(wanted);
  }

  #tell(events: readonly ConsoleEvent[]): void {
    for (const event of events) {
      const shown = this.#model.apply(event);
      for (const page of this.#pages.values()) page.tell(shown);
    }
  }
}

const TOPICS: readonly Topic[] = ['calls', 'logs', 'projects'];

/** How long gateways are watched after the last page was closed, in milliseconds. */
const LINGER_MS = 3000;

function isTopic(value: unknown): value is Topic {
  return TOPICS.some((topic) => topic === value);
}

function readAction(body: string): { readonly method: ActionName; readonly params: Record<string, unknown> } {
  const action: unknown = JSON.parse(body);
  if (!isObject(action) || typeof action.method !== 'string') throw new Error('An action needs a method.');
  return { method: action.method as ActionName, params: isObject(action.params) ? action.params : {} };
}

/** Excludes every other origin: the page may not load from, be framed by or be read by one. */
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' data: blob:; " +
    "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
} as const;

const NEW_LINK =
  'Each browser needs its own link, which works once. Run <code>switchboard console</code> in a terminal, ' +
  'or press Enter where it runs, and open the link that it prints.';

function refuse(response: ServerResponse, status: number, why: string): void {
  send(response, status, JSON.stringify({ error: why }));
}

function send(response: ServerResponse, status: number, json: string): void {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
  response.end(json);
}

function sendPage(
  response: ServerResponse,
  status: number,
  { title, html, refresh }: { readonly title: string; readonly html: string; readonly refresh?: string },
): void {
  response.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    ...(refresh === undefined ? {} : { Refresh: refresh }),
  });
  response.end(
    // Without this icon, a browser would request /favicon.ico and report that it is missing.
    '<!doctype html><html lang="en"><meta charset="utf-8"><link rel="icon" href="data:,">' +
      `<title>${escapeHtml(title)}</title><h1>${escapeHtml(title)}</h1><p>${html}</p></html>\n`,
  );
}
