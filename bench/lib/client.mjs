/**
 * A raw MCP client over the pipes of a program. It does as little as possible, because its own cost would distort the
 * result.
 */
export class RawClient {
  #child;
  #rest = [];
  #take;

  constructor(child) {
    this.#child = child;
    child.stdout.on('data', (chunk) => this.#take?.(chunk));
  }

  /** Sends one request and resolves with its parsed response. */
  request(id, method, params) {
    return this.exchange(Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`));
  }

  /** Sends bytes and resolves with the next message, parsed. */
  exchange(bytes) {
    return new Promise((resolve, reject) => {
      this.#child.exited.then(() =>
        reject(new Error(`The program has ended. It wrote: ${this.#child.said}`)),
      );
      this.#take = (chunk) => {
        this.#rest.push(chunk);
        if (chunk.at(-1) !== 0x0a) return;
        const text = Buffer.concat(this.#rest).toString();
        this.#rest = [];
        this.#take = undefined;
        resolve(JSON.parse(text));
      };
      this.#child.stdin.write(bytes);
    });
  }

  async handshake() {
    await this.request('hello', 'initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'bench', version: '1.0.0' },
    });
    this.#child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    return this.request('tools', 'tools/list', {});
  }

  /**
   * Makes `count` calls, never more than `inFlight` at a time, and resolves with the time of each and of all, in
   * milliseconds. Every response must be `answerBytes` long and, if its beginning is in the chunk, have the next id.
   */
  run(requests, count, inFlight, answerBytes) {
    return new Promise((resolve, reject) => {
      const sentAt = new Float64Array(count);
      const latencies = new Float64Array(count);
      let sent = 0;
      let answered = 0;
      let received = 0;
      const send = (more) => {
        const now = performance.now();
        const until = Math.min(sent + more, count);
        // One write for each request, as hosts do.
        while (sent < until) {
          this.#child.stdin.write(requests.bytes(sent));
          sentAt[sent++] = now;
        }
      };
      this.#take = (chunk) => {
        const now = performance.now();
        let complete = 0;
        for (let at = 0; at < chunk.length;) {
          // If a message begins in this chunk, its id must be the expected one.
          const begin = answerBytes * (answered + complete) - received;
          if (begin >= 0 && !requests.isAnswerTo(answered + complete, chunk, begin)) {
            reject(new Error(`A wrong answer: ${chunk.toString('utf8', begin, begin + 200)}`));
            return;
          }
          const newline = chunk.indexOf(0x0a, at);
          if (newline < 0) break;
          latencies[answered + complete] = now - sentAt[answered + complete];
          complete++;
          at = newline + 1;
        }
        received += chunk.length;
        answered += complete;
        if (answered < count) {
          if (complete > 0) send(complete);
          return;
        }
        this.#take = undefined;
        if (received === count * answerBytes) resolve({ latencies, elapsed: now - began });
        else reject(new Error(`${count} answers were ${received} bytes instead of ${count * answerBytes}`));
      };
      this.#child.exited.then(() =>
        reject(new Error(`The program has ended. It wrote: ${this.#child.said}`)),
      );
      const began = performance.now();
      send(inFlight);
    });
  }
}

/** How many ids are reused in turn; more than are ever in flight. */
const IDS = 1000;
const FIRST_ID = 1_000_000;
const ANSWER_HEAD = '{"jsonrpc":"2.0","id":';

/** Requests serialised beforehand. */
export class Requests {
  #lines;
  #heads;

  constructor(params) {
    const ids = Array.from({ length: IDS }, (_, index) => FIRST_ID + index);
    this.#lines = ids.map((id) =>
      Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params })}\n`),
    );
    this.#heads = ids.map((id) => Buffer.from(`${ANSWER_HEAD}${id},`));
  }

  bytes(call) {
    return this.#lines[call % IDS];
  }

  isAnswerTo(call, chunk, at) {
    const head = this.#heads[call % IDS];
    const length = Math.min(head.length, chunk.length - at);
    return head.compare(chunk, at, at + length, 0, length) === 0;
  }
}
