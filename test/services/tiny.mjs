/** The smallest service that can be told from others: it says its name and hangs up. Loads nothing but sockets. */
import { createServer } from 'node:net';

const { SWITCHYARD_SERVICE: service, SWITCHYARD_BRANCH: branch, PORT, HOST } = process.env;
const name = `${service} of ${branch}`;

createServer((socket) => {
  socket.on('error', () => undefined);
  socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${name.length}\r\n\r\n${name}`));
}).listen(Number(PORT), HOST);
