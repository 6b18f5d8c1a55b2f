import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request as ask, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { ROOT } from './temp-project.ts';
import { until } from './until.ts';

/** The destination of a request, and the name it requests. */
export interface Door {
  readonly port: number;
  /** The Host header. */
  readonly host: string;
  /** The address to connect to. Default 127.0.0.1. */
  readonly address?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
  readonly json: any;
}

/** The command line of one of our test services, for `switchyard.toml`: `serviceCommand('web', '--host ::1')`. */
export function serviceCommand(name: string, more = ''): string {
  return `node ${join(ROOT, 'test/services', `${name}.mjs`)} ${more}`.trim();
}

/** One request on its own connection. `path` may be an absolute URL, as clients send it to a proxy. */
export async function visit(
  { port, host, address = '127.0.0.1' }: Door,
  path: string,
  options: { method?: string; body?: Buffer | string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const { method = 'GET', body, headers = {} } = options;
  const request = ask({
    host: address,
    port,
    path,
    method,
    headers: { host, ...headers },
    agent: false,
  });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const bytes = Buffer.concat(await response.toArray());
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: bytes,
    text: bytes.toString(),
    get json() {
      return JSON.parse(bytes.toString());
    },
  };
}

/** Waits for the bytes of a connection, piece by piece. */
export interface RawTalk {
  readonly socket: Socket;
  /** The next bytes, this many. */
  readonly take: (size: number) => Promise<Buffer>;
  /** Everything up to and including this text. */
  readonly takeThrough: (text: string) => Promise<string>;
  /** Everything until the other side ends the connection. */
  readonly takeRest: () => Promise<Buffer>;
}

export async function talk(port: number, address = '127.0.0.1'): Promise<RawTalk> {
  const socket = connect({ port, host: address, allowHalfOpen: true });
  await once(socket, 'connect');
  let bytes = Buffer.alloc(0);
  let ended = false;
  socket.on('data', (chunk: Buffer) => (bytes = Buffer.concat([bytes, chunk])));
  socket.on('end', () => (ended = true));
  socket.on('error', () => (ended = true));
  const cut = (size: number): Buffer => {
    const taken = bytes.subarray(0, size);
    bytes = bytes.subarray(size);
    return taken;
  };
  const seen = (): string => JSON.stringify(bytes.toString('latin1').slice(0, 300));
  return {
    socket,
    async take(size) {
      await until(() => bytes.length >= size, { what: `${size} bytes`, seen });
      return cut(size);
    },
    async takeThrough(text) {
      await until(() => bytes.includes(text), { what: JSON.stringify(text), seen });
      return cut(bytes.indexOf(text) + Buffer.byteLength(text)).toString('latin1');
    },
    async takeRest() {
      await until(() => ended, { what: 'the end of the connection', seen });
      return cut(bytes.length);
    },
  };
}

/**
 * Opens a WebSocket by hand, and checks that frames of every size, a ping and the close pass. Returns the head of the
 * response, also if it declines.
 */
export async function exerciseWebSocket({ port, host, address }: Door): Promise<string> {
  const { socket, take, takeThrough, takeRest } = await talk(port, address);
  socket.write(
    `GET /live HTTP/1.1\r\nHost: ${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
  );
  const head = await takeThrough('\r\n\r\n');
  if (!head.startsWith('HTTP/1.1 101 ')) {
    socket.destroy();
    return head;
  }
  const exchange = async (opcode: number, data: Buffer, answer = opcode): Promise<void> => {
    socket.write(maskedFrame(opcode, data));
    const short = await take(2);
    const length = short[1]!;
    const size =
      length === 127
        ? Number((await take(8)).readBigUInt64BE())
        : length === 126
          ? (await take(2)).readUInt16BE()
          : length;
    const back = await take(size);
    if (short[0] !== (0x80 | answer) || !back.equals(data)) {
      throw new Error(
        `frame ${opcode} of ${data.length} bytes came back as ${short.toString('hex')}, ${size} bytes`,
      );
    }
  };
  await exchange(1, Buffer.from('hello'));
  await exchange(2, randomBytes(1000));
  await exchange(2, randomBytes(300_000));
  await exchange(9, Buffer.from('ping'), 10);
  await exchange(8, Buffer.from([3, 232]));
  socket.end();
  await takeRest();
  return head;
}

function maskedFrame(opcode: number, data: Buffer): Buffer {
  const mask = randomBytes(4);
  const head = Buffer.alloc(data.length < 126 ? 2 : data.length < 65_536 ? 4 : 10);
  head[0] = 0x80 | opcode;
  if (head.length === 2) head[1] = 0x80 | data.length;
  else if (head.length === 4) {
    head[1] = 0x80 | 126;
    head.writeUInt16BE(data.length, 2);
  } else {
    head[1] = 0x80 | 127;
    head.writeBigUInt64BE(BigInt(data.length), 2);
  }
  return Buffer.concat([head, mask, data.map((byte, at) => byte ^ mask[at % 4]!)]);
}

/** Reads `/events` and checks that each event arrives while the stream is open and before the next is sent. */
export async function exerciseEvents(door: Door): Promise<void> {
  const { socket, takeThrough } = await talk(door.port, door.address);
  socket.write(`GET /events HTTP/1.1\r\nHost: ${door.host}\r\nAccept: text/event-stream\r\n\r\n`);
  const head = await takeThrough('\r\n\r\n');
  if (!/content-type: text\/event-stream/i.test(head)) throw new Error(`no event stream: ${head}`);
  for (const text of ['one', 'two', 'three']) {
    await visit(door, `/emit?${text}`);
    await takeThrough(`data: ${text}\n\n`);
  }
  socket.destroy();
}
