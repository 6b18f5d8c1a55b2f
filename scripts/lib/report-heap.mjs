/**
 * Loaded into a gateway before its program: on SIGUSR2, collects garbage and writes the remaining heap to a file, in
 * MB.
 */
import { renameSync, writeFileSync } from 'node:fs';

const file = process.env.SOAK_HEAP;

process.on('SIGUSR2', () => {
  // The second run frees what finalizers have released.
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  writeFileSync(`${file}.new`, String((heapUsed + external) / 2 ** 20));
  renameSync(`${file}.new`, file);
});
