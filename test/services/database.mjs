/**
 * A server on PORT that talks as Postgres does: the client asks for TLS and is told no, says who it is, then each
 * question is a message of a type, a length and bytes. The answers to the last questions come after the client has
 * already ended its half of the connection.
 */
import { createServer } from 'node:net';

const { SWITCHYARD_BRANCH: branch, PORT, HOST } = process.env;
const TLS_REQUEST = 80_877_103;

createServer({ allowHalfOpen: true }, (socket) => {
  let pending = Buffer.alloc(0);
  let greeted = false;
  const questions = [];
  socket.on('error', () => socket.destroy());
  socket.on('data', (bytes) => {
    pending = Buffer.concat([pending, bytes]);
    while (takeMessage());
  });
  socket.on('end', () => {
    // Only now, to see whether somebody in between took the end of one half for the end of both.
    for (const question of questions) socket.write(message('D', question));
    socket.end(message('C', Buffer.from(`SELECT ${questions.length}`)));
  });

  function takeMessage() {
    const head = greeted ? 1 : 0;
    if (pending.length < head + 4) return false;
    const size = head + pending.readUInt32BE(head);
    if (pending.length < size) return false;
    const body = pending.subarray(head + 4, size);
    pending = pending.subarray(size);
    if (greeted) questions.push(Buffer.from(body));
    else if (body.readUInt32BE(0) === TLS_REQUEST) socket.write('N');
    else {
      greeted = true;
      socket.write(message('R', Buffer.from([0, 0, 0, 0])));
      socket.write(message('S', Buffer.from(`branch\0${branch}\0`)));
      socket.write(message('Z', Buffer.from('I')));
    }
    return true;
  }
}).listen(Number(PORT), HOST);

function message(type, body) {
  const head = Buffer.alloc(5, type);
  head.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}
