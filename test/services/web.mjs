/**
 * A web service for tests, on PORT and HOST; `--host H` listens elsewhere. It says who it is, gives bodies back, sends
 * events, streams, and echoes over a WebSocket that is written by hand.
 */
import { createHash } from 'node:crypto';
import { createServer } from 'node:http';

const { SWITCHYARD_SERVICE: service, SWITCHYARD_BRANCH: branch, PORT, HOST } = process.env;
const hostFlag = process.argv.indexOf('--host');
const host = hostFlag === -1 ? HOST : process.argv[hostFlag + 1];
const MEGABYTE = 1 << 20;

const listeners = new Set();

const answers = {
  '/who': (request, response) => {
    response.end(JSON.stringify({ service, branch, pid: process.pid, headers: request.headers }));
  },
  /** The body comes back chunk by chunk, before all of it is there. */
  '/echo': (request, response) => {
    response.writeHead(200, {
      'content-type': request.headers['content-type'] ?? 'application/octet-stream',
    });
    response.flushHeaders();
    request.pipe(response);
  },
  '/events': (request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.flushHeaders();
    listeners.add(response);
    response.on('close', () => listeners.delete(response));
  },
  /** `/emit?text` goes to everybody who listens to `/events`; the answer is how many they are. */
  '/emit': (request, response, text) => {
    for (const listener of listeners) listener.write(`data: ${text}\n\n`);
    response.end(String(listeners.size));
  },
  /** `/bytes?n`: that many megabytes, each of them different. */
  '/bytes': async (request, response, megabytes) => {
    for (let n = 0; n < Number(megabytes) && !response.destroyed; n++) {
      const block = Buffer.alloc(MEGABYTE, createHash('sha256').update(String(n)).digest());
      if (!response.write(block)) await new Promise((resolve) => response.once('drain', resolve));
    }
    response.end();
  },
};

const server = createServer((request, response) => {
  const [path, query = ''] = request.url.split('?');
  const answer = answers[path];
  if (answer === undefined) response.writeHead(404).end(`${service} of ${branch} has no ${path}`);
  else answer(request, response, decodeURIComponent(query));
});

server.on('upgrade', (request, socket) => {
  const key = `${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
  const accept = createHash('sha1').update(key).digest('base64');
  socket.on('error', () => socket.destroy());
  socket.write(
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n' +
      `Sec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  let pending = Buffer.alloc(0);
  socket.on('data', (bytes) => {
    pending = Buffer.concat([pending, bytes]);
    for (let frame = takeFrame(); frame !== undefined; frame = takeFrame()) {
      // Ping is answered by pong, close by close, and data by the same data.
      socket.write(makeFrame(frame.opcode === 9 ? 10 : frame.opcode, frame.data));
      if (frame.opcode === 8) socket.end();
    }
  });

  /** Clients mask what they send. */
  function takeFrame() {
    if (pending.length < 2) return undefined;
    const short = pending[1] & 0x7f;
    const extra = short === 127 ? 8 : short === 126 ? 2 : 0;
    const start = 2 + extra + 4;
    if (pending.length < start) return undefined;
    const size =
      extra === 8 ? Number(pending.readBigUInt64BE(2)) : extra === 2 ? pending.readUInt16BE(2) : short;
    if (pending.length < start + size) return undefined;
    const mask = pending.subarray(start - 4, start);
    const data = Buffer.from(pending.subarray(start, start + size)).map((byte, at) => byte ^ mask[at % 4]);
    const opcode = pending[0] & 0x0f;
    pending = pending.subarray(start + size);
    return { opcode, data };
  }
});

function makeFrame(opcode, data) {
  const head = Buffer.alloc(data.length < 126 ? 2 : data.length < 65_536 ? 4 : 10);
  head[0] = 0x80 | opcode;
  if (head.length === 2) head[1] = data.length;
  else if (head.length === 4) {
    head[1] = 126;
    head.writeUInt16BE(data.length, 2);
  } else {
    head[1] = 127;
    head.writeBigUInt64BE(BigInt(data.length), 2);
  }
  return Buffer.concat([head, data]);
}

server.listen(Number(PORT), host, () => console.log(`${service} of ${branch} listens on ${host}:${PORT}`));
