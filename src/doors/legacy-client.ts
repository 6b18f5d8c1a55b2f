import type { SwitchboardError } from '../shared/errors.ts';
import { isObject } from '../shared/is-object.ts';
import type { Logger } from '../shared/log.ts';
import {
  Session,
  wireAnswer,
  type Call,
  type ClientDescription,
  type ClientLink,
  type Gateway,
} from '../gateway/index.ts';
import {
  BATCHING_VERSION,
  Client,
  isLegacyVersion,
  isRoutedMethod,
  LATEST_LEGACY_VERSION,
  Server,
  type JsonObject,
} from '../protocol/index.ts';
import {
  memberText,
  RpcCode,
  type AnswerListener,
  type Edit,
  type Message,
  type Peer,
} from '../wire/index.ts';
import type { ClientOptions } from './client.ts';
import { describeClient } from './describe-client.ts';
import { serverCapabilities, type ServerIdentity } from './server-identity.ts';

/** A listener for a client's answer that also takes progress. */
interface ProgressListener extends AnswerListener {
  progress(notification: Message): void;
}

/** One client of the versions with a handshake, 2024-11-05 to 2025-11-25. */
export class LegacyClient implements ClientLink {
  readonly session: Session;
  readonly #peer: Peer;
  readonly #gateway: Gateway;
  readonly #identity: ServerIdentity;
  readonly #log: Logger;
  /** The agreed protocol version; undefined until it is initialized. */
  version: string | undefined = undefined;
  #joined = false;
  /** Set by its first request after initialize: not every client sends notifications/initialized. */
  #ready = false;
  capabilities: JsonObject = {};
  #clientInfo: unknown;

  constructor(peer: Peer, { gateway, identity, log }: ClientOptions) {
    this.#peer = peer;
    this.#gateway = gateway;
    this.#identity = identity;
    this.#log = log;
    this.session = new Session(this);
  }

  /** Whether the host frames with Content-Length; such hosts follow slightly different rules. */
  get #framed(): boolean {
    return this.#peer.transport.framing === 'content-length';
  }

  get takesLinks(): boolean {
    return this.version !== undefined && this.version >= LINKS_SINCE;
  }

  describe(): ClientDescription {
    return {
      ...describeClient(this.#clientInfo, this.version),
      principal: this.#peer.transport.principal,
    };
  }

  get congested(): boolean {
    return this.#peer.congested;
  }

  whenDrained(listener: () => void): void {
    this.#peer.whenDrained(listener);
  }

  request(message: Message): void {
    if (this.session.isRunning(message)) {
      this.#peer.refuseIdInUse(message.requiredText(Client.id));
      return;
    }
    const method = message.requiredString(Client.method);
    const params = message.lead(Client.params);
    if (this.#ready && params === BRACE && isRoutedMethod(method)) {
      this.#gateway.handle(this.session.open(message, method));
    } else this.#requestSlow(message, method, params);
  }

  /** Everything except the hot path: requests about the connection itself, and refused ones. */
  #requestSlow(message: Message, method: string, params: number): void {
    const id = message.requiredText(Client.id);
    if (params !== -1 && params !== BRACE && message.text(Client.params) !== 'null') {
      this.#peer.fail(id, RpcCode.invalidParams, 'Invalid params: params must be an object.');
    } else if (method === 'initialize') this.#initialize(message, id);
    else if (method === 'ping') this.#peer.answer(id, {});
    else if (this.version === undefined && !this.#framed && this.#identity.initializeOptional !== true) {
      // Some of these hosts never send initialize; all other clients do.
      if (isRoutedMethod(method))
        this.#peer.fail(id, RpcCode.invalidRequest, `Not initialized: send initialize before ${method}.`);
      else this.#peer.fail(id, RpcCode.methodNotFound, `Method not found: ${method.slice(0, 200)}`);
    } else {
      this.#join();
      this.#ready = true;
      this.session.ready();
      this.#gateway.handle(this.session.open(message, method));
    }
  }

  /** From now on, servers may send messages to the client. */
  #join(): void {
    if (this.#joined) return;
    this.#joined = true;
    this.#gateway.join(this.session);
  }

  /** The client has disconnected. */
  leave(): void {
    if (this.#joined) this.#gateway.leave(this.session);
  }

  notification(message: Message): void {
    const method = message.requiredString(Client.method);
    if (method === 'notifications/cancelled') this.#cancel(message);
    else if (method === 'notifications/progress') {
      const listener = this.#peer.pendingFor(message.integer(Client.reportToken));
      if (listener && 'progress' in listener) (listener as ProgressListener).progress(message);
    } else if (method === 'notifications/initialized') this.session.ready();
    else if (this.#joined) this.#gateway.notified(method, message);
  }

  #cancel(message: Message): void {
    // As text, because parsing would change a large number.
    const id = message.text(Client.requestId);
    if (id === undefined || !/^["\d-]/.test(id)) return;
    const params = message.value(Client.params);
    const reason = isObject(params) ? params.reason : undefined;
    this.session.cancel(id, typeof reason === 'string' ? reason : undefined);
    this.#peer.leaveUnanswered(id);
  }

  ask(request: Message, listener: AnswerListener): number {
    const edits: Edit[] = [];
    const token = request.start(Server.askToken);
    // We choose the ids ourselves; the tokens of two servers may be the same.
    if (token >= 0)
      edits.push({ start: token, end: request.end(Server.askToken), with: String(this.#peer.upcomingId) });
    return this.#peer.relay(request, edits, listener);
  }

  withdraw(id: number, reason: string): void {
    if (this.#peer.forget(id)) this.#peer.cancel(id, reason);
  }

  notify(method: string): void {
    // A list that is just being loaded has not changed.
    if (this.#identity.fixed !== true) this.#peer.notify(method);
  }

  forwardAnswer(answer: Message, call: Call, edits: readonly Edit[]): void {
    this.#peer.forwardAnswer(answer, call.request, edits);
  }

  forwardNotification(notification: Message, edits: readonly Edit[]): void {
    this.#peer.forward(notification, edits);
  }

  answer(call: Call, result: JsonObject): void {
    // A framed host expects the tool's output to be the result itself.
    const inner = this.#framed && isObject(result.structuredContent) ? result.structuredContent : undefined;
    this.#peer.answer(call.id, inner ? { ...inner, ...result } : result);
  }

  answerText(call: Call, resultText: string): void {
    const inner = this.#framed ? memberText(resultText, 'structuredContent') : undefined;
    const isObjectText = inner?.startsWith('{') === true && inner !== '{}';
    this.#peer.answerText(
      call.id,
      isObjectText ? `${inner.slice(0, -1)},${resultText.slice(1)}` : resultText,
    );
  }

  fail(call: Call, error: SwitchboardError): void {
    if (error.code === 'INTERNAL') {
      const cause = error.cause instanceof Error ? error.cause.stack : String(error.cause);
      this.#log.error(error.message, { cause });
    }
    const answer = wireAnswer(error, call.method, this.#framed);
    if (answer.kind === 'result') this.#peer.answer(call.id, answer.result);
    else this.#peer.fail(call.id, answer.code, answer.message);
  }

  #initialize(message: Message, id: string): void {
    const params = message.value(Client.params);
    const asked = isObject(params) ? params.protocolVersion : undefined;
    if (typeof asked !== 'string' && !(asked === undefined && this.#framed)) {
      this.#peer.fail(
        id,
        RpcCode.invalidParams,
        'Invalid params: initialize needs protocolVersion, as a string.',
      );
      return;
    }
    if (this.version !== undefined && !this.#framed) {
      this.#peer.fail(id, RpcCode.invalidRequest, 'Invalid request: this connection is already initialized.');
      return;
    }
    this.version = isLegacyVersion(asked) ? asked : LATEST_LEGACY_VERSION;
    if (isObject(params)) {
      if (isObject(params.capabilities)) this.capabilities = params.capabilities;
      this.#clientInfo = params.clientInfo;
    }
    if (asked === BATCHING_VERSION) this.#peer.allowBatches();
    const { kinds } = this.#gateway;
    const { name, title, version } = this.#identity;
    const instructions = this.#identity.instructions();
    this.#peer.answer(id, {
      ...(this.#framed ? { name } : {}),
      protocolVersion: this.version,
      capabilities: serverCapabilities(this.#identity, kinds, kinds.size > 0 ? { tasks: TASKS } : {}),
      serverInfo: { name, title, version },
      ...(instructions === '' ? {} : { instructions }),
    });
    // After the answer, so that messages of servers follow it.
    this.#join();
  }
}

const TASKS = { list: {}, cancel: {}, requests: { tools: { call: {} } } };

/** Since this version, clients accept resource links. Versions are dates, so they compare as text. */
const LINKS_SINCE = '2025-06-18';

const BRACE = 0x7b;
