import { withDescendants } from './descendants.ts';
import { hasProc, readProcFile } from './proc-file.ts';

/** The page size, in bytes. Other sizes are rare, and the system does not report its own here. */
const PAGE = 4096;

/** The memory that only a process and its descendants use, in bytes; undefined if the system does not report it. */
export function memoryOf(pid: number): number | undefined {
  if (!hasProc()) return undefined;
  let sum = 0;
  for (const each of withDescendants(pid)) sum += privateMemory(each);
  return sum === 0 ? undefined : sum;
}

/** The same for a single process. Shared memory, such as the code of its interpreter, is not counted. */
export function privateMemory(pid: number): number {
  const [, resident = 0, shared = 0] = readProcFile(`/proc/${pid}/statm`).split(' ').map(Number);
  return Math.max(0, resident - shared) * PAGE;
}
