/**
 * Loaded into a gateway before its program: on SIGUSR2 it collects its garbage and writes to a file what is left, in MB:
 * the memory of the process, V8's objects and buffers, and what is outside V8's heap (code, stacks, malloc).
 */
import { renameSync, writeFileSync } from 'node:fs';
import { getHeapStatistics } from 'node:v8';

const file = process.env.SOAK_MEMORY;

process.on('SIGUSR2', () => {
  // The second time frees what finalizers have let go.
  globalThis.gc();
  globalThis.gc();
  const { rss, heapUsed, external } = process.memoryUsage();
  const outside = rss - getHeapStatistics().total_physical_size;
  const bytes = { rss, heap: heapUsed + external, outside };
  const left = Object.fromEntries(Object.entries(bytes).map(([what, size]) => [what, size / 2 ** 20]));
  writeFileSync(`${file}.new`, JSON.stringify(left));
  renameSync(`${file}.new`, file);
});
