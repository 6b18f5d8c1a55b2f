// No service at all: a stranger who says on stdout which signals it was sent, and survives those that can be survived.
import { constants } from 'node:os';

const UNCATCHABLE = ['SIGKILL', 'SIGSTOP'];
for (const signal of Object.keys(constants.signals)) {
  if (UNCATCHABLE.includes(signal)) continue;
  try {
    process.on(signal, () => process.stdout.write(`${signal}\n`));
  } catch {
    // Some belong to the runtime.
  }
}
setInterval(() => undefined, 1 << 30);
process.stdout.write('ready\n');
