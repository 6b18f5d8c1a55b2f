/**
 * One client of the legacy era: its handshake, its running requests, and the questions that were put to it. The
 * transport hands each message to `receive` together with the way back for what belongs to it.
 */
import { answer, CAPABILITY_FOR, RpcError, telling } from './answer.mjs';
import { INSTRUCTIONS, LEGACY_VERSIONS, SERVER_INFO } from './server-state.mjs';

const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  logging: {},
  completions: {},
};

export class LegacySession {
  version = undefined;
  #serverState;
  #push;
  #capabilities = {};
  #level = 'debug';
  #subscribed = new Set();
  #running = new Map();
  #asked = new Map();
  #lastId = 0;

  /** @param push where messages go that belong to no request */
  constructor(serverState, push) {
    this.#serverState = serverState;
    this.#push = push;
    serverState.listeners.add(this.#onChange);
  }

  close() {
    this.#serverState.listeners.delete(this.#onChange);
    for (const { controller } of this.#running.values()) controller.abort();
    for (const { reject } of this.#asked.values()) reject(new Error('The client has gone.'));
  }

  /**
   * @param way.send        takes messages that belong to this request; the last one is its answer
   * @param way.dropStream  ends the stream that the client reads the answer from, where it can be taken up again
   */
  async receive(message, way) {
    if (message.method === undefined) this.#answered(message);
    else if (message.id === undefined) this.#notified(message);
    else {
      const controller = new AbortController();
      this.#running.set(message.id, { controller });
      let reply;
      try {
        reply = { result: await this.#run(message, way, controller.signal) };
      } catch (error) {
        reply = { error: error instanceof RpcError ? error : { code: -32603, message: error.message } };
      }
      this.#running.delete(message.id);
      // Nobody waits for the answer to what was cancelled.
      if (!controller.signal.aborted) way.send({ id: message.id, ...reply });
    }
  }

  #run({ method, params = {} }, way, signal) {
    switch (method) {
      case 'initialize':
        this.#capabilities = params.capabilities ?? {};
        this.version = LEGACY_VERSIONS.includes(params.protocolVersion)
          ? params.protocolVersion
          : LEGACY_VERSIONS.at(-1);
        return {
          protocolVersion: this.version,
          capabilities: CAPABILITIES,
          serverInfo: SERVER_INFO,
          instructions: INSTRUCTIONS,
        };
      case 'ping':
        return {};
      case 'logging/setLevel':
        this.#level = params.level;
        return {};
      case 'resources/subscribe':
        this.#subscribed.add(params.uri);
        return {};
      case 'resources/unsubscribe':
        this.#subscribed.delete(params.uri);
        return {};
    }
    const can = (asked) => this.#capabilities[CAPABILITY_FOR[asked]] !== undefined;
    const call = {
      serverState: this.#serverState,
      era: 'legacy',
      signal,
      ...telling(way.send, params, () => this.#level),
      dropStream: way.dropStream,
      can,
      need: (name) => {
        if (this.#capabilities[name] === undefined) throw new Error(`The client has no ${name}.`);
      },
      ask: async (requests) => {
        const unable = Object.values(requests).find((request) => !can(request.method));
        if (unable !== undefined) throw new Error(`The client does not support ${unable.method}.`);
        const entries = Object.entries(requests).map(async ([key, request]) => [
          key,
          await this.#ask(request, way.send, signal),
        ]);
        return Object.fromEntries(await Promise.all(entries));
      },
    };
    const given = answer(method, params, call);
    if (given === undefined) throw new RpcError(-32601, `Method not found: ${method}`);
    return given;
  }

  #ask({ method, params }, send, signal) {
    return new Promise((resolve, reject) => {
      const id = `ask-${++this.#lastId}`;
      this.#asked.set(id, { resolve, reject });
      signal.addEventListener('abort', () => {
        if (!this.#asked.delete(id)) return;
        send({
          method: 'notifications/cancelled',
          params: { requestId: id, reason: 'The call was cancelled.' },
        });
        reject(new Error('The call was cancelled.'));
      });
      send({ id, method, params });
    });
  }

  #answered({ id, result, error }) {
    const asked = this.#asked.get(id);
    this.#asked.delete(id);
    if (error !== undefined) asked?.reject(new Error(error.message));
    else asked?.resolve(result);
  }

  #notified({ method, params }) {
    if (method === 'notifications/cancelled') this.#running.get(params?.requestId)?.controller.abort();
  }

  #onChange = ({ what, uri }) => {
    if (uri === undefined) this.#push({ method: `notifications/${what}/list_changed` });
    else if (this.#subscribed.has(uri))
      this.#push({ method: 'notifications/resources/updated', params: { uri } });
  };
}
