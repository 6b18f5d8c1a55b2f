import type { SwitchboardError } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';
import { Session, wireAnswer, type Call, type ClientLink, type Gateway } from '../gateway/index.ts';
import {
  Client,
  isJsonObject,
  isLegacyVersion,
  isRoutedMethod,
  LATEST_LEGACY_VERSION,
  type JsonObject,
} from '../protocol/index.ts';
import { RpcCode, type Edit, type Message, type Peer } from '../wire/index.ts';

export interface ServerIdentity {
  readonly name: string;
  readonly title: string;
  readonly version: string;
  /** Told to the client's model once, when it connects. */
  readonly instructions: string;
}

/** One client of the versions that open with a handshake, 2024-11-05 to 2025-11-25. */
export class LegacyClient implements ClientLink {
  readonly session: Session;
  readonly #peer: Peer;
  readonly #gateway: Gateway;
  readonly #identity: ServerIdentity;
  readonly #log: Logger;
  #greeted = false;

  constructor(peer: Peer, gateway: Gateway, identity: ServerIdentity, log: Logger) {
    this.#peer = peer;
    this.#gateway = gateway;
    this.#identity = identity;
    this.#log = log;
    this.session = new Session(this);
  }

  /** A host that frames with Content-Length follows the rules of the documents that describe one. */
  get #framed(): boolean {
    return this.#peer.outbox.framing === 'content-length';
  }

  get congested(): boolean {
    return this.#peer.outbox.congested;
  }

  whenDrained(listener: () => void): void {
    this.#peer.outbox.whenDrained(listener);
  }

  request(message: Message): void {
    const method = message.string(Client.method)!;
    const params = message.lead(Client.params);
    if (isRoutedMethod(method) && (this.#greeted || this.#framed) && params === BRACE) {
      this.#gateway.handle(this.session.open(message, method));
    } else this.#unusual(message, method, params);
  }

  /** Everything but the plain case: requests about the connection itself, and those that are refused. */
  #unusual(message: Message, method: string, params: number): void {
    const id = message.text(Client.id)!;
    if (params !== -1 && params !== BRACE && message.text(Client.params) !== 'null') {
      this.#peer.fail(id, RpcCode.invalidParams, 'Invalid params: params must be an object.');
    } else if (method === 'initialize') this.#initialize(message, id);
    else if (method === 'ping') this.#peer.answer(id, {});
    else if (!isRoutedMethod(method)) {
      this.#peer.fail(id, RpcCode.methodNotFound, `Method not found: ${method.slice(0, 200)}`);
    } else if (!this.#greeted && !this.#framed) {
      // Framed hosts exist that never send initialize; every other one does.
      this.#peer.fail(id, RpcCode.invalidRequest, `Not initialized: send initialize before ${method}.`);
    } else this.#gateway.handle(this.session.open(message, method));
  }

  notification(message: Message): void {
    if (message.string(Client.method) !== 'notifications/cancelled') return;
    // As text: a large number would come out of a parse as another one.
    const id = message.text(Client.requestId);
    if (id === undefined || !/^["\d-]/.test(id)) return;
    const { reason } = message.value(Client.params) as JsonObject;
    this.session.cancel(id, typeof reason === 'string' ? reason : undefined);
  }

  forwardAnswer(answer: Message, call: Call, edits: readonly Edit[]): void {
    this.#peer.forwardAnswer(answer, call.request, edits);
  }

  forwardNotification(notification: Message, edits: readonly Edit[]): void {
    this.#peer.outbox.forward(notification, edits);
  }

  answer(call: Call, result: JsonObject): void {
    // A framed host looks for what a tool returned in the result itself.
    const inner =
      this.#framed && isJsonObject(result.structuredContent) ? result.structuredContent : undefined;
    this.#peer.answer(call.id, inner ? { ...inner, ...result } : result);
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
    const asked = isJsonObject(params) ? params.protocolVersion : undefined;
    if (typeof asked !== 'string' && !(asked === undefined && this.#framed)) {
      this.#peer.fail(
        id,
        RpcCode.invalidParams,
        'Invalid params: initialize needs protocolVersion, as a string.',
      );
      return;
    }
    if (this.#greeted && !this.#framed) {
      this.#peer.fail(id, RpcCode.invalidRequest, 'Invalid request: this connection is already initialized.');
      return;
    }
    this.#greeted = true;
    const { name, title, version, instructions } = this.#identity;
    this.#peer.answer(id, {
      ...(this.#framed ? { name } : {}),
      protocolVersion: isLegacyVersion(asked) ? asked : LATEST_LEGACY_VERSION,
      capabilities: { tools: {} },
      serverInfo: { name, title, version },
      ...(instructions === '' ? {} : { instructions }),
    });
  }
}

const BRACE = 0x7b;
