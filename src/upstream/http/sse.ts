import type { IncomingMessage } from 'node:http';
import { printableLine } from '../../shared/printable.ts';
import type { SwitchboardError } from '../../shared/errors.ts';
import { idFromFragments, looksLikeCall } from '../../wire/index.ts';
import {
  answeredBadly,
  badStatus,
  causeOf,
  httpStartFailed,
  neither,
  notReady,
  wrongType,
} from './failures.ts';
import { HttpRequest, isEventStream, typeOf } from './http-request.ts';
import { HttpTransport, type ErrorResponse, type HttpTransportContext } from './http-transport.ts';
import type { Outgoing } from './remote-messages.ts';
import type { PendingPost, PendingPostOptions } from './pending-post.ts';

/**
 * HTTP+SSE, the older transport: one long event stream carries all messages from the server, and its first event says
 * where to post messages.
 */
export class Sse extends HttpTransport {
  /** How the server responded to Streamable HTTP, if that was tried before. */
  readonly #before: ErrorResponse | undefined;
  #stream: HttpRequest | undefined;
  /** Resolves with the address for messages, once the server has sent it. */
  readonly #postUrl: Promise<URL>;
  #foundPostUrl!: (url: URL) => void;
  /** Whether the server has said where to post messages. */
  #ready = false;

  constructor(context: HttpTransportContext, before?: ErrorResponse) {
    super(context);
    this.#before = before;
    this.#postUrl = new Promise((resolve) => (this.#foundPostUrl = resolve));
  }

  override send(message: Outgoing): Promise<void> | undefined {
    if (this.#stream === undefined) void this.#openStream();
    return super.send(message);
  }

  protected override optionsOf(): PendingPostOptions {
    return { url: this.#postUrl, answeredElsewhere: true };
  }

  protected override finish(): PendingPost[] {
    this.#stream?.drop();
    return super.finish();
  }

  async #openStream(): Promise<void> {
    const { endpoint, inbox } = this.context;
    this.#stream = new HttpRequest(endpoint, { method: 'GET' });
    const outcome = await this.#stream.outcome;
    if (outcome.kind === 'unreachable') this.#fail(httpStartFailed(endpoint, outcome.cause));
    else if (outcome.kind === 'broken')
      this.#fail(notReady(endpoint, `broke off: ${causeOf(outcome.cause)}`));
    else if (outcome.kind === 'refused') this.#fail(outcome.error);
    else if (outcome.kind === 'answered') {
      const { response, status } = outcome;
      if (status === 200 && isEventStream(response)) await this.#read(response);
      else this.#rejected(status, typeOf(response), (await inbox.readError(response)).text);
    }
  }

  #rejected(status: number, type: string, text: string): void {
    const { endpoint } = this.context;
    if (this.#before !== undefined) this.#fail(neither(endpoint, this.#before, { status, text }));
    else if (status < 200 || status > 299) this.#fail(badStatus(endpoint, status, text));
    else this.#fail(wrongType(endpoint, type, text));
  }

  async #read(response: IncomingMessage): Promise<void> {
    await this.context.inbox.readEvents(response, {
      ...this.streamEvents,
      oversize: (head, tail) => this.#oversize(head, tail),
      flooded: () => {
        const how = 'sent too much on its event stream that is not a message';
        if (this.#ready) this.lose(how);
        else this.#fail(notReady(this.context.endpoint, how));
      },
      other: (type, data) => {
        if (type === 'endpoint') this.#found(Buffer.concat(data).toString().trim());
      },
    });
    if (this.#ready) this.lose('closed its event stream', 'closed its event stream before it responded');
    else this.#fail(notReady(this.context.endpoint, 'closed its event stream before it was ready'));
  }

  /** The server has said where to post messages. */
  #found(address: string): void {
    const { endpoint } = this.context;
    if (this.#ready) return;
    const url = URL.canParse(address, endpoint.url.href) ? new URL(address, endpoint.url.href) : undefined;
    if (url?.origin !== endpoint.url.origin) {
      const where = url === undefined ? 'that is invalid' : `at ${printableLine(url.origin)}`;
      this.#fail(answeredBadly(endpoint, `an address for messages ${where}, to which nothing is sent`));
      return;
    }
    url.username = url.password = url.hash = '';
    this.#ready = true;
    this.#foundPostUrl(url);
  }

  /** A response over the size limit fails its request, or all requests if its id is unknown. */
  #oversize(head: Buffer, tail: Buffer): void {
    const { endpoint, log } = this.context;
    log.warn('dropped a message over the limit', { server: endpoint.server });
    if (looksLikeCall(head.toString('latin1'))) return;
    const id = idFromFragments(head, tail);
    const posts = id === undefined ? this.posts.all() : [this.posts.get(Number(id))];
    for (const post of posts) post?.settle({ kind: 'too-large' });
  }

  /** The stream could not be opened: fails everything that waits for it. */
  #fail(error: SwitchboardError): void {
    if (!this.open) return;
    for (const { message } of this.finish())
      this.context.events.unanswered(message.id, { kind: 'failed', error });
  }
}
