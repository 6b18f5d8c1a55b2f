import { withDescendants } from './descendants.ts';
import { hasProc, readProcFile } from './proc-file.ts';

/** Pages of other sizes are rare, and the system does not say which it has. In bytes. */
const PAGE = 4096;

/** The memory that a process and its descendants have to themselves, in bytes; undefined where the system does not say. */
export function memoryOf(pid: number): number | undefined {
  if (!hasProc()) return undefined;
  let sum = 0;
  for (const each of withDescendants(pid)) sum += privateMemory(each);
  return sum === 0 ? undefined : sum;
}

/** The same for one process. What it shares, such as the code of its interpreter, counts for nobody. */
export function privateMemory(pid: number): number {
  const [, resident = 0, shared = 0] = readProcFile(`/proc/${pid}/statm`).split(' ').map(Number);
  return Math.max(0, resident - shared) * PAGE;
}
