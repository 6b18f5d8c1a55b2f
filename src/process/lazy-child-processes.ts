import type { ChildProcesses, ChildProcessesOptions } from './child-processes.ts';
import type { StopStages } from './terminate.ts';
import { loadWindows } from './windows.ts';

/** The children of a program that may never start one: the code is loaded with the first child. */
export interface LazyChildProcesses extends Pick<ChildProcesses, 'killAllNow' | 'size'> {
  load(): Promise<ChildProcesses>;
  /** Stops all children in parallel. Final: every later spawn fails. */
  stopAll(stages?: StopStages): Promise<void>;
}

export function lazyChildProcesses(options: ChildProcessesOptions): LazyChildProcesses {
  let children: ChildProcesses | undefined;
  let loading: Promise<ChildProcesses> | undefined;
  let closed = false;
  return {
    load() {
      loading ??= Promise.all([import('./child-processes.ts'), loadWindows()]).then(([loaded]) => {
        const { createChildProcesses } = loaded;
        children = createChildProcesses(options);
        if (closed) children.killAllNow();
        return children;
      });
      return loading;
    },
    async stopAll(stages) {
      closed = true;
      await children?.stopAll(stages);
    },
    killAllNow() {
      closed = true;
      children?.killAllNow();
    },
    get size() {
      return children?.size ?? 0;
    },
  };
}
