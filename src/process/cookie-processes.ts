import { createCimProcessList } from './process-list-cim.ts';
import { createProcessList, type RunningProcess } from './process-list.ts';
import type { PidStart } from './pid-start.ts';
import { createProcessTree, treeMembers, type ProcessTree } from './process-tree.ts';
import { createTerminator, type StopReport } from './terminate.ts';

/** How to recognize a program that was started earlier, possibly by another process. */
export interface CookieTarget {
  /** The process that was started. Undefined if it was never recorded; then only the cookie identifies it. */
  readonly leader: PidStart | undefined;
  /** The cookie value in its environment, which all its descendants inherit. */
  readonly cookie: string | undefined;
}

/** All processes at one moment. */
export interface ProcessSnapshot {
  /** The running processes of this program, oldest first. Never ourselves, and never carriers of another cookie. */
  membersOf(target: CookieTarget): readonly RunningProcess[];
  /** All processes that carry a cookie, by its value, oldest first. */
  carriers(): ReadonlyMap<string, readonly RunningProcess[]>;
}

/** Finds processes by a cookie in their environment, no matter which process started them or when. */
export interface CookieProcesses {
  /** With targets, several times faster: processes older than the target leaders are skipped. Default: all. */
  look(targets?: readonly CookieTarget[]): ProcessSnapshot;
  /**
   * Stops these programs in parallel: SIGTERM immediately, SIGKILL after `kill` milliseconds (default 5000), until two
   * checks in a row find no process. The reports are in the order of the targets.
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

/** How long killed processes may take to disappear, in milliseconds. On a busy machine that takes a while. */
const CONFIRM_GONE_MS = 5000;

/** No environment can contain this value. For a tree, undefined would mean every cookie. */
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
