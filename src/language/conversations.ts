import { messageOf, SwitchboardError } from '../shared/errors.ts';
import type { Call, ClientLink, CloseOptions, Listing, ServerRequest, Session } from '../gateway/index.ts';
import { SERVER_SHAPE } from '../protocol/index.ts';
import { editedText, Message, type Edit } from '../wire/index.ts';
import { answerQuery } from './answer.ts';
import { purposeOf } from './descriptions/known.ts';
import { InnerClient } from './inner-client.ts';
import { listingFor, readQuery } from './natural-language.ts';
import type { LanguageSourceOptions } from './source.ts';
import { NATURAL_LANGUAGE } from './tool-name.ts';

/** What goes on between the clients of one server and the model before it. */
export class Conversations {
  /** The server's tools as clients see them. */
  readonly listing: Listing;
  readonly #options: LanguageSourceOptions;
  readonly #running = new Map<Call, AbortController>();
  /** The inner client of each outer client, by its session at the server. */
  readonly #clients = new WeakMap<Session, InnerClient>();
  #stopped: string | undefined;
  #onIdle: (() => void) | undefined;

  constructor(options: LanguageSourceOptions) {
    const { server } = options;
    this.listing = listingFor(server.name, server.description ?? purposeOf(server));
    this.#options = options;
  }

  /** Whether the server must not be stopped for being idle: a model may be about to use it. */
  get busy(): boolean {
    return this.#running.size > 0;
  }

  begin(edits: readonly Edit[], call: Call): void {
    if (!call.open) return;
    if (this.#stopped !== undefined) {
      call.fail(new SwitchboardError('STOPPING', `${call.subject()} was not run: ${this.#stopped}`));
      return;
    }
    if (this.#running.size >= MOST) {
      call.fail(this.#busy());
      return;
    }
    const controller = new AbortController();
    const client = new InnerClient(call, this.#options.inner);
    this.#clients.set(client.session, client);
    call.runBy({
      cancelled: (reason = 'The client cancelled the request.') => controller.abort(new Error(reason)),
      suspended: (away) => client.waits(away),
    });
    this.#running.set(call, controller);
    void this.#run(edits, call, client, controller.signal).finally(() => {
      this.#running.delete(call);
      if (this.#running.size === 0) this.#onIdle?.();
    });
  }

  /** The clients behind those that the server knows. */
  outerOf(callers: ReadonlySet<Session>): ReadonlySet<Session> {
    return new Set([...callers].map((session) => this.#clients.get(session)?.outer.session ?? session));
  }

  /** A question of the server as it is put to a client: to the one whose words are being dealt with. */
  passedOn(question: ServerRequest): ServerRequest {
    const { method, request } = question;
    const standIn = (client: ClientLink): ClientLink | undefined =>
      [...question.callers()]
        .map((session) => this.#clients.get(session))
        .find((inner) => inner?.outer.session.client === client);
    return {
      method,
      request,
      callers: () => this.outerOf(question.callers()),
      relayTo: (client) => question.relayTo(standIn(client) ?? client),
      refuse: (code, message) => question.refuse(code, message),
    };
  }

  /** Ends what still runs, after the time it may take to finish. Returns how the server itself is to be ended. */
  async close({
    reason = 'Switchboard is stopping.',
    drainMs = 0,
  }: CloseOptions = {}): Promise<CloseOptions> {
    this.#stopped = reason;
    const since = performance.now();
    if (this.busy && drainMs > 0) await this.#idleWithin(drainMs);
    for (const [call, controller] of this.#running) {
      call.fail(new SwitchboardError('STOPPING', `${call.subject()} was not finished: ${reason}`));
      controller.abort(new Error(reason));
    }
    return { reason, drainMs: Math.max(0, Math.round(drainMs - (performance.now() - since))) };
  }

  #idleWithin(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async #run(edits: readonly Edit[], call: Call, client: InnerClient, signal: AbortSignal): Promise<void> {
    try {
      const { params } = JSON.parse(editedText(call.request, edits)) as {
        params: { name: unknown; arguments?: unknown };
      };
      if (params.name !== NATURAL_LANGUAGE) throw this.#unknown(params.name);
      const result = await answerQuery(this.#options, readQuery(params.arguments), client, signal);
      call.relay(Message.from({ jsonrpc: '2.0', id: 0, result }, SERVER_SHAPE));
    } catch (error) {
      call.fail(asError(error, call));
    }
  }

  #busy(): SwitchboardError {
    return new SwitchboardError(
      'LANGUAGE_BUSY',
      `Server '${this.#options.server.name}' is already handling ${MOST} natural-language requests.`,
      { hint: 'Try again when some of them have finished.' },
    );
  }

  #unknown(tool: unknown): SwitchboardError {
    const name = typeof tool === 'string' ? tool.slice(0, 200) : '';
    return new SwitchboardError(
      'TOOL_UNKNOWN',
      `Server '${this.#options.server.name}' has no tool '${name}': it takes natural-language requests.`,
      { hint: `Call ${NATURAL_LANGUAGE} with {"query":"…"} instead.` },
    );
  }
}

/** Conversations at one time; each costs money and memory. */
const MOST = 64;

function asError(error: unknown, call: Call): SwitchboardError {
  if (error instanceof SwitchboardError) return error;
  return new SwitchboardError('INTERNAL', `${call.subject()} failed: ${messageOf(error)}`, { cause: error });
}
