import { randomBytes, timingSafeEqual } from 'node:crypto';
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { messageOf } from '../../../shared/errors.ts';
import { isObject } from '../../../shared/is-object.ts';

/**
 * Where a gateway accepts requests from other programs of its user. It is in the state file, which only that user can
 * read.
 */
export interface ControlAddress {
  /** A socket or, on Windows, a named pipe. */
  readonly path: string;
  /** Part of every request: on Windows, other users can see the names of pipes. */
  readonly token: string;
}

/** The available methods, by name. The return value is sent as JSON. */
export type ControlMethods = Readonly<Record<string, () => unknown>>;

/** Methods that keep the connection open, and exchange lines of JSON on it until one side closes it. */
export type ControlStreams = Readonly<Record<string, (link: ControlLink) => void | Promise<void>>>;

/** A connection that stays open. */
export interface ControlLink {
  /** Sends a value as a line. Disconnects a reader that is too slow. */
  send(value: object): void;
  /** Sets the function that receives each value the other side sends. */
  receive(take: (value: unknown) => void): void;
  /** Calls back when the connection is closed. */
  closed(then: () => void): void;
}

export interface ControlChannel {
  readonly address: ControlAddress;
  readonly close: () => void;
}

/** The longest request, in UTF-16 units, and the longest wait for it, in milliseconds. */
const MAX_REQUEST = 64 * 1024;
const REQUEST_MS = 5000;
const MAX_CONNECTIONS = 32;
/**
 * On a connection that stays open: the longest line, in UTF-16 code units, and how much may wait to be read, in bytes.
 */
const MAX_LINE = 4 * 1024 * 1024;
const MAX_UNREAD = 16 * 1024 * 1024;
/** The longest path of a socket, in bytes: 104 on macOS and 108 on Linux, both including a terminating zero. */
const MAX_SOCKET_PATH = 103;

/**
 * Answers other programs of this user. A connection carries one request and one response, each a line of JSON:
 * `{"token":"…","method":"reload"}`, then `{"result":…}` or `{"error":"…"}`. After the response to one of the
 * `streams`, it stays open. Only this user can access the directory.
 */
export async function openControlChannel(
  directory: string,
  methods: ControlMethods,
  streams: ControlStreams = {},
  platform: NodeJS.Platform = process.platform,
): Promise<ControlChannel> {
  const address = newAddress(directory, platform);
  const isFile = platform !== 'win32';
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    // A client that disconnects while we answer does no harm.
    socket.on('error', () => undefined);
    socket.setTimeout(REQUEST_MS, () => socket.destroy());
    // A connection must not keep a gateway alive after its host has left.
    socket.unref();
    receiveRequest(socket, (line, rest) => {
      const request = readRequest(line, address.token);
      const stream = 'method' in request ? own(streams, request.method) : undefined;
      if (stream !== undefined) void openStream(socket, stream, rest);
      else void respond(request, methods).then((response) => socket.end(`${response}\n`));
    });
  });
  server.maxConnections = MAX_CONNECTIONS;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    // A killed gateway with our pid may have left its socket behind.
    if (isFile) rmSync(address.path, { force: true });
    server.listen(address.path, () => {
      server.unref();
      server.off('error', reject);
      server.on('error', () => undefined);
      if (isFile) chmodSync(address.path, 0o600);
      resolve({
        address,
        close: () => {
          server.close();
          for (const socket of sockets) socket.destroy();
        },
      });
    });
  });
}

function newAddress(directory: string, platform: NodeJS.Platform): ControlAddress {
  const [name, token] = [0, 1].map(() => randomBytes(16).toString('hex')) as [string, string];
  if (platform === 'win32') return { path: `\\\\.\\pipe\\switchboard-${name}`, token };
  const path = join(directory, `${process.pid}.sock`);
  // Some versions of Node would truncate it and listen at another path.
  if (Buffer.byteLength(path) > MAX_SOCKET_PATH)
    throw new Error(`the path of the socket is too long: ${path}`);
  return { path, token };
}

/** `rest` is what has already arrived after the request. */
function receiveRequest(socket: Socket, take: (line: string, rest: string) => void): void {
  let text = '';
  const add = (chunk: string): void => {
    text += chunk;
    const end = text.indexOf('\n');
    if (end === -1 && text.length <= MAX_REQUEST) return;
    socket.off('data', add);
    if (end === -1) socket.destroy();
    else take(text.slice(0, end), text.slice(end + 1));
  };
  socket.setEncoding('utf8').on('data', add);
}

type ControlRequest = { readonly method: string } | { readonly error: string };

function readRequest(line: string, token: string): ControlRequest {
  try {
    const request: unknown = JSON.parse(line);
    if (!isObject(request) || !isSame(request.token, token)) return { error: 'not allowed' };
    const { method } = request;
    return typeof method === 'string' ? { method } : { error: NO_METHOD };
  } catch (error) {
    return { error: messageOf(error) };
  }
}

const NO_METHOD = 'there is no such method';

async function respond(request: ControlRequest, methods: ControlMethods): Promise<string> {
  if ('error' in request) return JSON.stringify(request);
  try {
    const call = own(methods, request.method);
    if (call === undefined) return JSON.stringify({ error: NO_METHOD });
    return JSON.stringify({ result: (await call()) ?? null });
  } catch (error) {
    return JSON.stringify({ error: messageOf(error) });
  }
}

function own<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** Continues with a connection whose request has been read. */
async function openStream(socket: Socket, stream: ControlStreams[string], rest: string): Promise<void> {
  socket.setTimeout(0);
  let take: (value: unknown) => void = () => undefined;
  const hear = readJsonLines(socket, (value) => take(value));
  try {
    await stream({
      send: (value) => sendLine(socket, value),
      receive: (taker) => {
        take = taker;
      },
      closed: (then) => {
        if (socket.destroyed) then();
        else socket.once('close', then);
      },
    });
    hear(rest);
  } catch (error) {
    socket.end(`${JSON.stringify({ error: messageOf(error) })}\n`);
  }
}

function sendLine(socket: Socket, value: object): void {
  if (socket.destroyed) return;
  if (socket.writableLength > MAX_UNREAD) socket.destroy();
  else socket.write(`${JSON.stringify(value)}\n`);
}

/**
 * Reads values from a connection, one per line. Closes it on anything else, or on a line that is too long. Returns a
 * function that accepts text that has already been read.
 */
export function readJsonLines(
  socket: Socket,
  take: (value: unknown) => void,
  longest = MAX_LINE,
): (text: string) => void {
  let parts: string[] = [];
  let length = 0;
  const hear = (chunk: string): void => {
    let from = 0;
    for (let end = chunk.indexOf('\n'); end !== -1 && !socket.destroyed; end = chunk.indexOf('\n', from)) {
      const line = parts.join('') + chunk.slice(from, end);
      parts = [];
      length = 0;
      from = end + 1;
      try {
        take(JSON.parse(line));
      } catch {
        socket.destroy();
      }
    }
    if (from === chunk.length) return;
    parts.push(from === 0 ? chunk : chunk.slice(from));
    length += chunk.length - from;
    if (length > longest) socket.destroy();
  };
  socket.setEncoding('utf8').on('data', hear);
  return hear;
}

/** Takes constant time. */
function isSame(given: unknown, token: string): boolean {
  const [one, other] = [Buffer.from(String(given)), Buffer.from(token)];
  return one.length === other.length && timingSafeEqual(one, other);
}
