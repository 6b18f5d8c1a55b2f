import { createProcessList, type RunningProcess } from './process-list.ts';
import { createProcessTree, treeMembers, type TreeIdentity } from './process-tree.ts';
import type { StopReport, Terminator } from './terminate.ts';

/** All processes at a point in time. */
export interface ProcessSnapshot {
  /** The running processes of this tree, oldest first. Never includes ourselves or carriers of another cookie. */
  membersOf(tree: TreeIdentity): readonly RunningProcess[];
  /** All processes that carry a cookie, by cookie, oldest first. */
  carriers(): ReadonlyMap<string, readonly RunningProcess[]>;
}

/** Finds process trees by the cookie in their environment, no matter which process started them or when. */
export interface TreeFinder {
  /** Reads the process list. Much faster with `trees`: processes older than their roots are skipped. Default: all. */
  look(trees?: readonly TreeIdentity[]): ProcessSnapshot;
  /**
   * Stops these trees in parallel: SIGTERM immediately, SIGKILL after `kill` milliseconds (default 5000), until two
   * checks in a row find no process. The reports have the order of the trees.
   */
  stop(
    trees: readonly (TreeIdentity & { readonly name: string })[],
    options?: { readonly kill?: number },
  ): Promise<readonly StopReport[]>;
}

export function createTreeFinder(cookieName: string): TreeFinder {
  const processes = createProcessList(cookieName);
  const ourselves = new Set([process.pid]);
  // Created on demand: most commands stop nothing.
  let terminator: Promise<Terminator> | undefined;
  const loadTerminator = async (): Promise<Terminator> => {
    const { createTerminator } = await import('./terminate.ts');
    return createTerminator({ processes, strangers: () => ourselves });
  };
  return {
    look(trees) {
      const living = processes.read(trees === undefined ? 0 : eldestOf(trees));
      return {
        membersOf: (tree) => treeMembers(createProcessTree(tree), living, ourselves),
        carriers: () => carriersAmong(living),
      };
    },
    async stop(trees, { kill = 5000 } = {}) {
      const loaded = await (terminator ??= loadTerminator());
      return Promise.all(
        trees.map((tree) =>
          loaded.stop(
            { name: tree.name, tree: createProcessTree(tree), closeStdin: () => undefined },
            { term: 0, kill, giveUp: kill + CONFIRM_GONE_MS },
          ),
        ),
      );
    },
  };
}

/** How long killed processes may take to disappear, in milliseconds. This takes a while on a busy machine. */
const CONFIRM_GONE_MS = 5000;

function eldestOf(trees: readonly TreeIdentity[]): number {
  return Math.min(...trees.map(({ root }) => root?.startTime ?? 0));
}

function carriersAmong(living: readonly RunningProcess[]): ReadonlyMap<string, readonly RunningProcess[]> {
  const found = new Map<string, RunningProcess[]>();
  for (const entry of [...living].sort((a, b) => a.startTime - b.startTime || a.pid - b.pid)) {
    if (entry.cookie === undefined || entry.pid === process.pid) continue;
    const others = found.get(entry.cookie);
    if (others === undefined) found.set(entry.cookie, [entry]);
    else others.push(entry);
  }
  return found;
}
