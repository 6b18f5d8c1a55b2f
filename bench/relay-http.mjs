/**
 * The lower bound for an HTTP gateway in Node: `node relay-http.mjs COMMAND ARGS…` starts the server, sends it the body
 * of every POST as a line, and returns its lines in order. It inspects nothing that passes through. Prints its port.
 */
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';

const [command, ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
const waiting = [];
let rest = [];
child.stdout.on('data', (chunk) => {
  let from = 0;
  for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, from)) {
    const last = chunk.subarray(from, at);
    const body = rest.length === 0 ? last : Buffer.concat([...rest, last]);
    rest = [];
    from = at + 1;
    waiting
      .shift()
      .writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length })
      .end(body);
  }
  if (from < chunk.length) rest.push(chunk.subarray(from));
});
const server = createServer((request, response) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    const body = Buffer.concat(parts);
    // The server does not respond to a notification.
    if (!body.includes('"id":')) response.writeHead(202).end();
    else waiting.push(response);
    child.stdin.write(Buffer.concat([body, NEWLINE]));
  });
});
const NEWLINE = Buffer.from('\n');
// A client is idle during the gateway's round, which may take longer than the default of five seconds.
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
child.on('exit', (code) => process.exit(code ?? 1));
process.stdin.on('end', () => process.exit(0)).resume();
