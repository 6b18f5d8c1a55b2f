import { connect } from 'node:net';

/** A raw HTTP client on one connection that stays open. Like RawClient, it does as little as possible. */
export class HttpClient {
  #socket;
  #head;
  #session;
  #take;
  #parts = [];
  #received = 0;
  /** The head of the response being received, and where the response ends. */
  #answer;

  static async open(port, token) {
    const socket = connect(port, '127.0.0.1');
    socket.setNoDelay(true);
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return new HttpClient(socket, port, token);
  }

  constructor(socket, port, token) {
    this.#socket = socket;
    this.#head =
      `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n` +
      `Accept: application/json, text/event-stream\r\nAuthorization: Bearer ${token}\r\n`;
    socket.on('data', (chunk) => this.#read(chunk));
    socket.on('close', () => this.#take?.reject(new Error('The connection was closed.')));
  }

  /** The handshake, after which calls can be made. */
  async handshake() {
    const { head } = await this.post(
      this.request({
        jsonrpc: '2.0',
        id: 'hello',
        method: 'initialize',
        params: {
          protocolVersion: '2025-06-18',
          capabilities: {},
          clientInfo: { name: 'bench', version: '1.0.0' },
        },
      }),
    );
    this.#session = /^mcp-session-id: *(\S+)/im.exec(head)?.[1];
    await this.post(this.request({ jsonrpc: '2.0', method: 'notifications/initialized' }));
  }

  /** The bytes of a request, so that it is serialized once. */
  request(message) {
    const body = JSON.stringify(message);
    const session =
      this.#session === undefined
        ? ''
        : `Mcp-Session-Id: ${this.#session}\r\nMCP-Protocol-Version: 2025-06-18\r\n`;
    return Buffer.from(`${this.#head}${session}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  }

  /** Sends a request and resolves with the head and body of the response. */
  post(bytes) {
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) throw new Error('The connection was closed while it was idle.');
      this.#take = { resolve, reject };
      this.#socket.write(bytes);
    });
  }

  /** Makes that many calls, one after the other; every response must have this body. */
  async run(bytes, count, expected, latencies) {
    for (let call = 0; call < count; call++) {
      const began = performance.now();
      const { body, head } = await this.post(bytes);
      latencies.push(performance.now() - began);
      if (!body.equals(expected)) throw new Error(`A wrong answer: ${head}${body.toString().slice(0, 200)}`);
    }
  }

  close() {
    this.#socket.destroy();
  }

  #read(chunk) {
    this.#parts.push(chunk);
    this.#received += chunk.length;
    this.#answer ??= this.#readHead();
    if (this.#answer === undefined || this.#received < this.#answer.end) return;
    const { head, end } = this.#answer;
    const body = Buffer.concat(this.#parts).subarray(head.length, end);
    const take = this.#take;
    this.#parts = [];
    this.#received = 0;
    this.#answer = this.#take = undefined;
    take?.resolve({ head, body });
  }

  /** The head of the response and where the response ends; undefined until the head is complete. */
  #readHead() {
    const seen = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts);
    const headEnd = seen.indexOf('\r\n\r\n');
    if (headEnd < 0) return undefined;
    const head = seen.latin1Slice(0, headEnd + 4);
    const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? (head.includes(' 202 ') ? 0 : NaN));
    if (!Number.isNaN(length)) return { head, end: head.length + length };
    this.#take?.reject(new Error(`An answer without a length: ${head}`));
    return undefined;
  }
}
