import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { TOKEN } from './replica-machines.mjs';

const MODERN = '2026-07-28';
const LEGACY = '2025-06-18';
/** A response that has not arrived after this long is lost, in milliseconds. */
const LOST_MS = 30_000;
const PAUSE_MS = 50;

/**
 * Clients of both eras that make one call after the other, each call with a unique value. Each value is sent once,
 * whatever happens: if it arrives at a server twice, somebody else has sent it twice.
 */
export class ReplicaClients {
  #port;
  #pauseMs;
  #agent = new Agent({ keepAlive: true });
  #clients = [];
  #running = false;
  #done;
  /** The outcomes of calls. */
  counts = { ok: 0, failed: 0, lost: 0, crossed: 0, doubled: 0 };
  /** The duration of successful calls, in milliseconds. */
  times = [];
  failures = new Map();

  /** `pauseMs`: the pause between two calls of a client. */
  constructor({ port, count, pauseMs = 0 }) {
    this.#port = port;
    this.#pauseMs = pauseMs;
    for (let at = 0; at < count; at++)
      this.#clients.push({
        name: `client-${at}`,
        modern: at % 2 === 1,
        session: undefined,
        calls: 0,
        works: [],
      });
  }

  start() {
    this.#running = true;
    this.#done = Promise.all(this.#clients.map((client) => this.#use(client)));
  }

  /** Waits until each client has made that many successful calls. */
  async reach(calls) {
    while (!this.#clients.every(({ works }) => works.length >= calls)) await sleep(50);
  }

  /** Lets running calls finish. */
  async stop() {
    this.#running = false;
    await this.#done;
  }

  /** Ends all sessions. */
  async leave() {
    await Promise.all(
      this.#clients.map(async (client) => {
        if (client.session !== undefined)
          await this.#send('DELETE', client, undefined).catch(() => undefined);
      }),
    );
    this.#agent.destroy();
  }

  resetTimes() {
    this.times = [];
    this.counts = { ...this.counts, ok: 0 };
  }

  /**
   * How long after that moment each client had a successful call again, the slowest last; Infinity for a client that
   * has not.
   */
  worksAfter(moment) {
    return this.#clients
      .map(({ works }) => (works.find(({ from }) => from >= moment)?.to ?? Infinity) - moment)
      .sort((a, b) => a - b);
  }

  async #use(client) {
    while (this.#running) {
      const value = `${client.name}-${++client.calls}`;
      const from = performance.now();
      try {
        if (!client.modern && client.session === undefined) await this.#initialize(client);
        await this.#call(client, value);
        const to = performance.now();
        this.counts.ok++;
        this.times.push(to - from);
        client.works.push({ from, to });
        if (client.works.length > 5000) client.works.shift();
        if (this.#pauseMs > 0) await sleep(this.#pauseMs * (0.5 + Math.random()));
      } catch (error) {
        this.#count(error);
        await sleep(PAUSE_MS);
      }
    }
  }

  #count(error) {
    if (error.kind === 'crossed') this.counts.crossed++;
    else if (error.kind === 'doubled') this.counts.doubled++;
    else if (error.kind === 'lost') this.counts.lost++;
    else this.counts.failed++;
    const what = error.message.slice(0, 120);
    this.failures.set(what, (this.failures.get(what) ?? 0) + 1);
  }

  async #initialize(client) {
    const params = {
      protocolVersion: LEGACY,
      capabilities: {},
      clientInfo: { name: client.name, version: '1' },
    };
    const answer = await this.#send('POST', client, { jsonrpc: '2.0', id: 0, method: 'initialize', params });
    if (answer.status !== 200) throw new Error(`initialize: ${answer.status}`);
    client.session = answer.headers['mcp-session-id'];
    const noted = await this.#send('POST', client, { jsonrpc: '2.0', method: 'notifications/initialized' });
    if (noted.status !== 202) {
      await this.#send('DELETE', client, undefined);
      client.session = undefined;
      throw new Error(`initialized: ${noted.status}`);
    }
  }

  async #call(client, value) {
    const id = value;
    const params = { name: 'canary__tell', arguments: { value } };
    if (client.modern)
      params._meta = {
        'io.modelcontextprotocol/protocolVersion': MODERN,
        'io.modelcontextprotocol/clientInfo': { name: client.name, version: '1' },
        'io.modelcontextprotocol/clientCapabilities': {},
      };
    const answer = await this.#send('POST', client, { jsonrpc: '2.0', id, method: 'tools/call', params });
    // As the protocol requires: the session is over, and the client begins a new one.
    if (answer.status === 404) client.session = undefined;
    if (answer.status !== 200) throw new Error(`${answer.status} ${messageIn(answer.text)}`);
    const messages = messagesIn(answer).filter((message) => message.id !== undefined);
    if (messages.length > 1) throw fault('doubled', `${messages.length} answers to one request`);
    const [message] = messages;
    if (message === undefined) throw fault('lost', 'a response without an answer');
    if (message.id !== id) throw fault('crossed', 'the answer to another request');
    if (message.error !== undefined) throw new Error(message.error.message);
    const text = message.result?.content?.[0]?.text ?? '';
    if (message.result?.isError === true) throw new Error(text);
    if (JSON.parse(text).value !== value) throw fault('crossed', 'the value of another call');
  }

  #send(method, client, message) {
    const body = message === undefined ? undefined : Buffer.from(JSON.stringify(message));
    const headers = {
      authorization: `Bearer ${TOKEN}`,
      accept: 'application/json, text/event-stream',
      ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': body.length }),
      ...(client.modern
        ? { 'mcp-protocol-version': MODERN, 'mcp-method': message?.method, 'mcp-name': message?.params?.name }
        : client.session === undefined
          ? {}
          : { 'mcp-session-id': client.session, 'mcp-protocol-version': LEGACY }),
    };
    return new Promise((resolve, reject) => {
      const sent = request(
        { host: '127.0.0.1', port: this.#port, path: '/mcp', method, headers, agent: this.#agent },
        (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (chunk) => (text += chunk));
          response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
          response.on('error', reject);
        },
      );
      const timer = setTimeout(() => sent.destroy(fault('lost', `no answer in ${LOST_MS} ms`)), LOST_MS);
      sent.on('close', () => clearTimeout(timer)).on('error', reject);
      sent.end(body);
    });
  }
}

function fault(kind, message) {
  return Object.assign(new Error(message), { kind });
}

function messagesIn({ headers, text }) {
  if (!headers['content-type']?.startsWith('text/event-stream')) return [JSON.parse(text)];
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)));
}

function messageIn(text) {
  try {
    return JSON.parse(text).error.message;
  } catch {
    return text.slice(0, 80);
  }
}
