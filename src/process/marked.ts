import { createCimCensus } from './census-cim.ts';
import { createCensus, type LivingProcess } from './census.ts';
import type { Identity } from './identity.ts';
import { createTree, membersOf, type Tree } from './members.ts';
import { createTerminator, type StopReport } from './terminate.ts';

/** How a program that was started some time, by whomever, is known again. */
export interface Marked {
  /** The process that was started. Undefined when nobody could write it down; then the cookie alone tells. */
  readonly leader: Identity | undefined;
  /** The value in its environment, which all its descendants inherit. */
  readonly cookie: string | undefined;
}

/** What one look at all processes saw. */
export interface Sighting {
  /** The living of this program, oldest first. Never ourselves, and never who carries the cookie of another one. */
  membersOf(target: Marked): readonly LivingProcess[];
  /** Everybody who carries a cookie, by its value, oldest first. */
  carriers(): ReadonlyMap<string, readonly LivingProcess[]>;
}

/** Processes that are known by a cookie in their environment, whoever started them and whenever. */
export interface MarkedProcesses {
  /** For these targets alone it is several times quicker: nobody older than their leaders is looked at. Default: all. */
  look(targets?: readonly Marked[]): Sighting;
  /**
   * Ends these programs in parallel: SIGTERM at once, SIGKILL after `kill` milliseconds (default 5000), until nobody
   * was seen twice. The reports are in the order of the targets.
   */
  stop(
    targets: readonly (Marked & { readonly name: string })[],
    options?: { readonly kill?: number },
  ): Promise<readonly StopReport[]>;
}

export function createMarkedProcesses(cookieName: string): MarkedProcesses {
  const census = process.platform === 'win32' ? createCimCensus() : createCensus(cookieName);
  const ourselves = new Set([process.pid]);
  const terminator = createTerminator({ census, strangers: () => ourselves });
  return {
    look(targets) {
      const living = census.take(targets === undefined ? 0 : eldestOf(targets));
      return {
        membersOf: (target) => membersOf(treeOf(target), living, ourselves),
        carriers: () => carriersAmong(living),
      };
    },
    stop: (targets, { kill = 5000 } = {}) =>
      Promise.all(
        targets.map((target) =>
          terminator.stop(
            { name: target.name, tree: treeOf(target), closeStdin: () => undefined },
            { term: 0, kill, giveUp: kill + BURIAL },
          ),
        ),
      ),
  };
}

/** How long the dead of SIGKILL may take to be gone, in milliseconds. On a busy machine that is more than a moment. */
const BURIAL = 5000;

/** No environment can hold this. To a tree, no cookie at all would mean every cookie. */
const NO_COOKIE = '\0';

function treeOf({ leader, cookie }: Marked): Tree {
  return createTree(leader, cookie ?? NO_COOKIE);
}

function eldestOf(targets: readonly Marked[]): number {
  return Math.min(...targets.map(({ leader }) => leader?.startTime ?? 0));
}

function carriersAmong(living: readonly LivingProcess[]): ReadonlyMap<string, readonly LivingProcess[]> {
  const found = new Map<string, LivingProcess[]>();
  for (const entry of [...living].sort((a, b) => a.startTime - b.startTime || a.pid - b.pid)) {
    if (entry.cookie === undefined || entry.pid === process.pid) continue;
    const others = found.get(entry.cookie);
    if (others === undefined) found.set(entry.cookie, [entry]);
    else others.push(entry);
  }
  return found;
}
