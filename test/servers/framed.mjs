/**
 * Speaks only Content-Length framing, in both directions. Newline-framed requests are never answered.
 *
 *   node test/servers/framed.mjs [--split] [--lowercase] [--extra-headers] [--strict] [--deaf]
 *
 * `--split`: header and body in separate writes, the body in two. `--lowercase`: "content-length: 12". `--extra-headers`:
 * a Content-Type line too. `--strict`: exits with 3 when it reads something that is no header block (default: it looks
 * for Content-Length anywhere in it, as the server of seed 000 does). `--deaf`: answers nothing more after that.
 * Tools: as echo.mjs, two_in_one (a log notification and the answer in one write), http_dump (the head of an HTTP
 * response, and text, before its answer).
 */
import { echoTools } from './lib/echo-tools.mjs';
import { NO_ANSWER, flag, nextTurn, serve, text } from './lib/server.mjs';

const headerName = flag('lowercase') ? 'content-length' : 'Content-Length';
const extra = flag('extra-headers') ? 'Content-Type: application/vscode-jsonrpc; charset=utf-8\r\n' : '';
const headerOf = (body) => `${extra}${headerName}: ${body.length}\r\n\r\n`;
let queue = Promise.resolve();
let deaf = false;

serve({
  name: 'framed',
  framing: 'content-length',
  capabilities: { tools: {}, logging: {} },
  onFrameError: (reason) => {
    deaf ||= flag('deaf');
    if (!flag('strict')) return;
    process.stderr.write(`framed: ${reason}\n`);
    process.exit(3);
  },
  send: (json, write) => {
    if (deaf) return;
    const body = Buffer.from(json);
    if (!flag('split')) return write(Buffer.concat([Buffer.from(headerOf(body)), body]));
    const middle = Math.floor(body.length / 2);
    const parts = [
      headerOf(body).slice(0, 9),
      headerOf(body).slice(9),
      body.subarray(0, middle),
      body.subarray(middle),
    ];
    queue = queue.then(async () => {
      for (const part of parts) {
        write(part);
        await nextTurn();
      }
    });
  },
  tools: {
    ...echoTools,
    http_dump: {
      description: 'Prints an HTTP response that breaks off, then answers.',
      run: (_args, ctx) => {
        ctx.server.write(
          'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000000\r\n\r\n<html>',
        );
        return text('dumped');
      },
    },
    two_in_one: {
      description: 'Two frames in one write.',
      run: (_args, ctx) => {
        const log = {
          jsonrpc: '2.0',
          method: 'notifications/message',
          params: { level: 'info', data: 'first' },
        };
        const answer = { jsonrpc: '2.0', id: ctx.id, result: text('second') };
        const frames = [log, answer].map((message) => Buffer.from(JSON.stringify(message)));
        ctx.server.write(Buffer.concat(frames.flatMap((body) => [Buffer.from(headerOf(body)), body])));
        return NO_ANSWER;
      },
    },
  },
});
