import { parentPort, workerData } from 'node:worker_threads';
import type { CallEnd, ThreadData, ThreadMessage } from '../messages.ts';
import { Interpreter } from './interpreter.ts';
import { Sandbox } from './sandbox.ts';
import { stripTypes } from './strip-types.ts';

/** The thread of one script. Its first message is the script; the code that started the thread terminates it. */
const { memoryMb } = workerData as { readonly memoryMb: number };
const interpreter = Interpreter.open(memoryMb);
// The first use of a library takes ten times as long as later ones, and this thread is often started ahead of time.
stripTypes('const warm: number = 1;');

const say = (message: ThreadMessage): void => parentPort?.postMessage(message);

async function run(data: ThreadData): Promise<void> {
  const sandbox = new Sandbox(data, await interpreter, {
    call: (id, server, tool, args) => say({ kind: 'call', id, server, tool, args }),
    computing: () => say({ kind: 'computing' }),
    waiting: () => say({ kind: 'waiting' }),
    ended: (outcome) => say({ kind: 'ended', outcome }),
  });
  parentPort?.on('message', (end: CallEnd) => sandbox.settle(end));
  sandbox.run();
}

// An error thrown here ends the thread, and the code that started it is notified.
parentPort?.once('message', (data: ThreadData) => void run(data));
