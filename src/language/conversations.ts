import { SwitchboardError } from '../shared/errors.ts';
import { isObject } from '../shared/is-object.ts';
import {
  RunningCalls,
  type Call,
  type ClientLink,
  type CloseOptions,
  type Listing,
  type ServerRequest,
  type Session,
} from '../gateway/index.ts';
import type { JsonObject } from '../protocol/index.ts';
import type { Edit } from '../wire/index.ts';
import { answerQuery } from './answer.ts';
import { purposeOf } from './descriptions/known.ts';
import { InnerClient } from './inner-client.ts';
import { listingFor, readQuery } from './natural-language.ts';
import type { LanguageSourceOptions } from './source.ts';
import { NATURAL_LANGUAGE } from './tool-name.ts';

/** The conversations between the clients of one server and the model in front of it. */
export class Conversations {
  /** The server's tools as clients see them. */
  readonly listing: Listing;
  readonly #options: LanguageSourceOptions;
  readonly #running = new RunningCalls();
  /** The inner client of each outer client, by the inner client's session at the server. */
  readonly #clients = new WeakMap<Session, InnerClient>();
  #stopped: string | undefined;

  constructor(options: LanguageSourceOptions) {
    const { server } = options;
    this.listing = listingFor(server.name, server.description ?? purposeOf(server));
    this.#options = options;
  }

  /** Whether the server must not be stopped although it is idle, because a model may be about to use it. */
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
    const client = new InnerClient(call, this.#options.inner);
    this.#clients.set(client.session, client);
    this.#running.run(
      call,
      edits,
      ({ params }, signal) => this.#answer(params, client, signal),
      (away) => client.waits(away),
    );
  }

  /** The outer clients of the inner clients that the server knows. */
  outerOf(callers: ReadonlySet<Session>): ReadonlySet<Session> {
    return new Set([...callers].map((session) => this.#clients.get(session)?.outer.session ?? session));
  }

  /** Prepares a request of the server for the outer client whose natural-language request is being handled. */
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

  /**
   * Ends the running conversations after the time they have to finish. Returns how the server itself is to be closed.
   */
  async close({
    reason = 'Switchboard is stopping.',
    drainMs = 0,
  }: CloseOptions = {}): Promise<CloseOptions> {
    this.#stopped = reason;
    const since = performance.now();
    await this.#running.close(
      reason,
      drainMs,
      (call) => new SwitchboardError('STOPPING', `${call.subject()} was not finished: ${reason}`),
    );
    return { reason, drainMs: Math.max(0, Math.round(drainMs - (performance.now() - since))) };
  }

  #answer(params: unknown, client: InnerClient, signal: AbortSignal): Promise<JsonObject> {
    const { name, arguments: args } = isObject(params) ? params : {};
    if (name !== NATURAL_LANGUAGE) throw this.#unknown(name);
    return answerQuery(this.#options, readQuery(args), client, signal);
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

/** The number of concurrent conversations; each costs money and memory. */
const MOST = 64;
