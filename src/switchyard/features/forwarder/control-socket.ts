import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import type { Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { SwitchboardError } from '../../../shared/errors.ts';
import { sha256 } from '../../../shared/sha256.ts';
import type { Home } from '../../records/state/home.ts';

/** The kernel's limit is 108 bytes on Linux and 104 on macOS, including a NUL at the end. */
const LONGEST_PATH = 100;

/** The control socket of the forwarder of a home. Only its owner can reach it. Does not touch the file system. */
export function controlSocket(home: Home): string {
  const name = sha256(home.root).slice(0, 16);
  const path = join(home.run, 'forward.sock');
  return Buffer.byteLength(path) <= LONGEST_PATH ? path : join(shortDirectory(), `${name}.sock`);
}

/** Creates the directory of the socket, accessible only to its owner. */
export function makeControlDirectory(home: Home): void {
  if (dirname(controlSocket(home)) !== shortDirectory()) {
    mkdirSync(home.run, { recursive: true, mode: 0o700 });
    chmodSync(home.run, 0o700);
    return;
  }
  mkdirSync(shortDirectory(), { recursive: true, mode: 0o700 });
  // Another user may have created a directory of this name before us.
  const found = lstatSync(shortDirectory());
  if (!found.isDirectory() || found.uid !== process.getuid?.() || (found.mode & 0o077) !== 0) {
    throw new SwitchboardError('CONTROL_SOCKET', `${shortDirectory()} is not a private directory of yours.`, {
      hint: 'Remove it, or choose a shorter SWITCHYARD_HOME, so that the socket can be created there.',
    });
  }
}

/** Not the temporary directory of the environment, which may differ for the next command. */
function shortDirectory(): string {
  return `/tmp/switchyard-${process.getuid?.() ?? 0}`;
}

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
