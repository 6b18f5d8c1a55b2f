import type { Socket } from 'node:net';

/** A longer line is not from us, in characters. */
const LONGEST_LINE = 64 * 1024;

/** Calls back for each line; disconnects a peer whose line never ends. */
export function readLines(socket: Socket, onLine: (line: string) => void): void {
  let rest = '';
  socket.setEncoding('utf8');
  socket.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
    if (rest.length > LONGEST_LINE) socket.destroy();
  });
}
