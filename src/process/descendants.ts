import { readProcFile } from './proc-file.ts';

/**
 * What a process started, the nearest first, and then itself, as far as the tree is intact. Read step by step, and without
 * a look at all processes of the system. Only the process itself on a system that does not list children.
 */
export function* processTree(pid: number): Generator<number> {
  // Children of a thread other than the first are rare, and not worth a directory each.
  const parents = [pid];
  for (const parent of parents) {
    const children = childrenOf(parent);
    yield* children;
    parents.push(...children);
  }
  yield pid;
}

function childrenOf(pid: number): readonly number[] {
  const text = readProcFile(`/proc/${pid}/task/${pid}/children`).toString('latin1').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}
