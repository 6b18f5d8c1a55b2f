import { readProcFile } from './proc-file.ts';

/**
 * The descendants of a process, nearest first, then the process itself, as far as the tree is intact. Reads step by
 * step, without listing all processes of the system. Yields only the process itself if the system does not list
 * children.
 */
export function* withDescendants(pid: number): Generator<number> {
  // Children of threads other than the first are rare, and not worth reading a directory for each thread.
  const parents = [pid];
  for (const parent of parents) {
    const children = childrenOf(parent);
    yield* children;
    parents.push(...children);
  }
  yield pid;
}

function childrenOf(pid: number): readonly number[] {
  const text = readProcFile(`/proc/${pid}/task/${pid}/children`).trim();
  return text === '' ? [] : text.split(' ').map(Number);
}
