/** Loaded into a gateway before its program: on SIGUSR2 it collects its garbage and writes to a file what is left, in MB. */
import { renameSync, writeFileSync } from 'node:fs';

const file = process.env.SOAK_HEAP;

process.on('SIGUSR2', () => {
  // The second time frees what finalizers have let go.
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  writeFileSync(`${file}.new`, String((heapUsed + external) / 2 ** 20));
  renameSync(`${file}.new`, file);
});
