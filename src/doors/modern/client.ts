import type { CatalogEntry } from '../../gateway/index.ts';
import type { CatalogKind } from '../../protocol/index.ts';
import {
  Client,
  isJsonObject,
  isModernVersion,
  LEGACY_VERSIONS,
  MODERN_VERSION,
  ModernCode,
  severity,
  type JsonObject,
} from '../../protocol/index.ts';
import { RpcCode, type Message, type Peer } from '../../wire/index.ts';
import { Chain } from './chain.ts';
import type { ModernHome, Seat } from './home.ts';
import { fixedCapabilities } from '../legacy.ts';
import { Listen } from './listen.ts';
import { Parked } from './parked.ts';
import { ModernRequest } from './request.ts';
import { stampedResult } from './stamp.ts';
import { Turn, type TurnKeeper } from './turn.ts';

/** Requests of the older era that have no place in this one. */
const GONE = new Set([
  'initialize',
  'ping',
  'logging/setLevel',
  'resources/subscribe',
  'resources/unsubscribe',
  'tasks/list',
  'tasks/result',
]);

/** Requests of an extension, for clients that have it. */
const TASKS = new Set(['tasks/get', 'tasks/update', 'tasks/cancel']);
const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

function hasTasks({ extensions }: JsonObject): boolean {
  return isJsonObject(extensions) && extensions[TASKS_EXTENSION] !== undefined;
}

/** How long the answer to who we are waits for servers that nobody knows yet, and how often it looks, in milliseconds. */
const ACQUAINT_MS = 1500;
const LOOK_AGAIN_MS = 25;

/** How long a client may take us at our word about what we are, in milliseconds. */
const DISCOVER_TTL = 60_000;

/** One connection of a client that speaks the version without a handshake: every request stands for itself. */
export class ModernClient implements Seat, TurnKeeper {
  readonly peer: Peer;
  readonly #home: ModernHome;
  /** What waits for an answer. */
  readonly #running = new Chain<Turn>();
  /** Answers to who we are that are not given yet. */
  #acquainting = 0;
  #onIdle: (() => void)[] = [];

  constructor(peer: Peer, home: ModernHome) {
    this.peer = peer;
    this.#home = home;
    // Every request of this era has an envelope among its rare members.
    peer.readsWhole = true;
    home.arrived(this);
  }

  get running(): number {
    return this.#running.size;
  }

  get requests(): ModernRequest[] {
    return this.#running.members().flatMap(({ worker }) => (worker instanceof ModernRequest ? [worker] : []));
  }

  request(message: Message, method = message.string(Client.method)!): void {
    const { version, capabilities } = this.#home.envelopeOf(message);
    // What most requests are is not held up by what few are.
    if (version === MODERN_VERSION && capabilities !== undefined && method === 'tools/call') {
      this.#run(message, method, capabilities);
      return;
    }
    const id = message.text(Client.id)!;
    if (version !== undefined && !isModernVersion(version)) {
      const data = { supported: [MODERN_VERSION, ...LEGACY_VERSIONS], requested: version.slice(0, 200) };
      this.peer.fail(id, ModernCode.unsupportedVersion, 'Unsupported protocol version', data);
    } else if (version === undefined || capabilities === undefined) {
      const missing = version === undefined ? 'protocolVersion' : 'clientCapabilities';
      this.peer.fail(
        id,
        RpcCode.invalidParams,
        `Invalid params: _meta needs "io.modelcontextprotocol/${missing}".`,
      );
    } else if (method === 'server/discover') void this.#introduce(id, capabilities);
    else if (TASKS.has(method) && !hasTasks(capabilities)) {
      const data = { requiredCapabilities: { extensions: { [TASKS_EXTENSION]: {} } } };
      this.peer.fail(
        id,
        ModernCode.missingCapability,
        `${method} needs the extension ${TASKS_EXTENSION}.`,
        data,
      );
    } else if (GONE.has(method)) this.peer.fail(id, RpcCode.methodNotFound, `Method not found: ${method}`);
    else this.#run(message, method, capabilities);
  }

  notification(message: Message): void {
    // The one notification that the era has for us; over HTTP it is the end of the exchange instead.
    if (message.string(Client.method) !== 'notifications/cancelled') return;
    const id = message.text(Client.requestId);
    const turn = this.#running.find((each) => each.id === id);
    if (turn === undefined) return;
    this.ended(turn);
    const { reason } = message.value(Client.params) as JsonObject;
    turn.worker?.cancel(typeof reason === 'string' ? reason : undefined);
  }

  /** The client is gone. What it asked for is not wanted any more; calls that wait for its next turn do. */
  leave(): void {
    for (const turn of this.#running.members()) {
      this.ended(turn);
      turn.worker?.cancel('The client has left.');
    }
    this.#home.left(this);
  }

  /** Resolves when nothing waits for an answer; who only listens does not count. */
  idle(): Promise<void> {
    if (this.#busy === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onIdle.push(resolve));
  }

  /** Gives up on what still runs, and says so. */
  failAll(): void {
    for (const { worker } of this.#running.members()) {
      if (worker instanceof Listen) worker.end();
      else if (worker instanceof ModernRequest) worker.session.failAll();
    }
  }

  get #busy(): number {
    const asked = this.#running.members().filter(({ worker }) => !(worker instanceof Listen));
    return asked.length + this.#acquainting;
  }

  #run(message: Message, method: string, capabilities: JsonObject): void {
    let level: string | undefined;
    if (message.has(Client.logLevel)) {
      level = message.string(Client.logLevel);
      if (severity(level) < 0) {
        this.peer.fail(message.text(Client.id), RpcCode.invalidParams, 'Invalid params: unknown log level.');
        return;
      }
    }
    this.#home.declared(capabilities);
    this.#home.join();
    const turn = new Turn(this, message);
    if (method === 'subscriptions/listen') {
      this.#running.add(turn);
      turn.worker = new Listen(this.#home, turn);
      return;
    }
    const state = message.has(Client.requestState) ? message.string(Client.requestState) : undefined;
    if (state !== undefined && Parked.isOurs(state)) {
      const parked = this.#resumed(state, message);
      if (parked) {
        turn.worker = parked;
        this.#running.add(turn);
        parked.resume(turn);
      } else
        this.peer.fail(
          message.text(Client.id),
          RpcCode.invalidParams,
          'Invalid params: requestState is unknown, has been used or is too old. Send the request again without it.',
        );
      return;
    }
    if (level !== undefined) this.#home.wantLog(level);
    const request = new ModernRequest(this.#home, turn, method, capabilities, level);
    turn.worker = request;
    this.#running.add(turn);
    request.run();
  }

  /** The call that a client comes back to with the answer to a question. */
  #resumed(state: string, request: Message): ModernRequest | undefined {
    const parked = this.#home.parked.take(state);
    if (parked === undefined || parked.concerns(request)) return parked;
    // It is good for once, and for what it was given for; whoever tries it on something else ends both.
    parked.expire();
    return undefined;
  }

  ended(turn: Turn): void {
    this.#running.remove(turn);
    if (this.#onIdle.length > 0) this.#tellIdle();
  }

  #tellIdle(): void {
    if (this.#onIdle.length > 0 && this.#busy === 0)
      for (const listener of this.#onIdle.splice(0)) listener();
  }

  async #introduce(id: string, capabilities: JsonObject): Promise<void> {
    this.#acquainting++;
    await this.#acquaint(capabilities);
    this.peer.answerText(id, this.#discover());
    this.#acquainting--;
    this.#tellIdle();
  }

  /**
   * What servers can do beyond the protocol is known only from themselves. One that starts with the first request anyway
   * is waited for a moment, the first time ever.
   */
  async #acquaint(capabilities: JsonObject): Promise<void> {
    this.#home.declared(capabilities);
    this.#home.join();
    const until = performance.now() + ACQUAINT_MS;
    const isStranger = ({ source, exposure }: CatalogEntry): boolean =>
      exposure.needsTools && source.about() === undefined && source.problem === undefined;
    while (this.#home.gateway.catalog.entries.some(isStranger) && performance.now() < until)
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }

  #discover(): string {
    const { identity, gateway, info } = this.#home;
    const instructions = identity.instructions();
    return stampedResult(
      {
        supportedVersions: [MODERN_VERSION, ...LEGACY_VERSIONS],
        capabilities:
          identity.fixed === true
            ? fixedCapabilities(gateway.kinds)
            : capabilitiesOf(gateway.kinds, this.#extensions()),
        ...(instructions === '' ? {} : { instructions }),
        ttlMs: DISCOVER_TTL,
        cacheScope: 'private',
      },
      'server/discover',
      info,
    );
  }

  /** What servers beyond us have that goes beyond the protocol; it passes through. */
  #extensions(): JsonObject {
    const all: JsonObject = {};
    for (const { source } of this.#home.gateway.catalog.entries) {
      const extensions = source.about()?.capabilities.extensions;
      if (isJsonObject(extensions)) Object.assign(all, extensions);
    }
    return all;
  }
}

/** What we declare: everything that a server may have, for they are not asked first. */
function capabilitiesOf(kinds: ReadonlySet<CatalogKind>, extensions: JsonObject): JsonObject {
  return {
    tools: { listChanged: true },
    ...(kinds.has('resources') ? { resources: { subscribe: true, listChanged: true } } : {}),
    ...(kinds.has('prompts') ? { prompts: { listChanged: true } } : {}),
    ...(kinds.has('prompts') || kinds.has('resources') ? { completions: {} } : {}),
    ...(kinds.size > 0 ? { logging: {} } : {}),
    ...(Object.keys(extensions).length > 0 ? { extensions } : {}),
  };
}
