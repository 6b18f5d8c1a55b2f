import { createCimProcessList } from './process-list-cim.ts';
import { createProcessList, type RunningProcess } from './process-list.ts';
import type { PidStart } from './pid-start.ts';
import { createProcessTree, treeMembers, type ProcessTree } from './process-tree.ts';
import { createTerminator, type StopReport } from './terminate.ts';

/** How a program that was started some time, by whomever, is known again. */
export interface CookieTarget {
  /** The process that was started. Undefined when nobody could write it down; then the cookie alone tells. */
  readonly leader: PidStart | undefined;
  /** The value in its environment, which all its descendants inherit. */
  readonly cookie: string | undefined;
}

/** What one look at all processes saw. */
export interface ProcessSnapshot {
  /** The living of this program, oldest first. Never ourselves, and never who carries the cookie of another one. */
  membersOf(target: CookieTarget): readonly RunningProcess[];
  /** Everybody who carries a cookie, by its value, oldest first. */
  carriers(): ReadonlyMap<string, readonly RunningProcess[]>;
}

/** Finds processes by a cookie in their environment, no matter which process started them or when. */
export interface CookieProcesses {
  /** With targets, several times faster: processes older than the target leaders are skipped. Default: all. */
  look(targets?: readonly CookieTarget[]): ProcessSnapshot;
  /**
   * Ends these programs in parallel: SIGTERM at once, SIGKILL after `kill` milliseconds (default 5000), until nobody
   * was seen twice. The reports are in the order of the targets.
   */
  stop(
    targets: readonly (CookieTarget & { readonly name: string })[],
    options?: { readonly kill?: number },
  ): Promise<readonly StopReport[]>;
}

export function createCookieProcesses(cookieName: string): CookieProcesses {
  const processes = process.platform === 'win32' ? createCimProcessList() : createProcessList(cookieName);
  const ourselves = new Set([process.pid]);
  const terminator = createTerminator({ processes, strangers: () => ourselves });
  return {
    look(targets) {
      const living = processes.read(targets === undefined ? 0 : eldestOf(targets));
      return {
        membersOf: (target) => treeMembers(treeOf(target), living, ourselves),
        carriers: () => carriersAmong(living),
      };
    },
    stop: (targets, { kill = 5000 } = {}) =>
      Promise.all(
        targets.map((target) =>
          terminator.stop(
            { name: target.name, tree: treeOf(target), closeStdin: () => undefined },
            { term: 0, kill, giveUp: kill + CONFIRM_GONE_MS },
          ),
        ),
      ),
  };
}

/** How long the dead of SIGKILL may take to be gone, in milliseconds. On a busy machine that is more than a moment. */
const CONFIRM_GONE_MS = 5000;

/** No environment can hold this. To a tree, no cookie at all would mean every cookie. */
const NO_COOKIE = '\0';

function treeOf({ leader, cookie }: CookieTarget): ProcessTree {
  return createProcessTree(leader, cookie ?? NO_COOKIE);
}

function eldestOf(targets: readonly CookieTarget[]): number {
  return Math.min(...targets.map(({ leader }) => leader?.startTime ?? 0));
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
