import type { RunningProcess } from './process-list.ts';
import type { ProcessIdentity } from './process-identity.ts';

/** How to recognize a process and all its descendants, even if another of our processes started them earlier. */
export interface TreeIdentity {
  /** The process that was started. Undefined if it is unknown; then only the cookie identifies the tree. */
  readonly root: ProcessIdentity | undefined;
  /** The cookie in its environment, which all its descendants inherit. Undefined if it has none. */
  readonly cookie: string | undefined;
}

/** As the cookie of a tree: the tree consists of everything that has a cookie. No process has this value. */
export const ANY_COOKIE = '*';

/** A process and all its descendants. */
export interface ProcessTree extends TreeIdentity {
  /** Members seen so far, pid to start time; stays valid when a parent ends or an environment is overwritten. */
  readonly known: Map<number, number>;
  /** Whether we have watched the tree since its start, so that its session id cannot have been reused. */
  readonly watched: boolean;
}

export function createProcessTree({ root, cookie }: TreeIdentity, watched = false): ProcessTree {
  const known = new Map(root === undefined ? [] : [[root.pid, root.startTime]]);
  return { root, cookie, known, watched };
}

/**
 * The running processes that belong to the tree: members seen before, carriers of its cookie, its session, and all
 * their descendants. Oldest first, so that a parent is signalled before it can replace a child. Never includes
 * `strangers` (ourselves, our reaper), carriers of another tree's cookie (even if started from within this tree, they
 * belong to the other), or processes that are meant to outlive the one that started them.
 */
export function treeMembers(
  tree: ProcessTree,
  living: readonly RunningProcess[],
  strangers: ReadonlySet<number>,
): RunningProcess[] {
  const since = tree.root?.startTime ?? 0;
  const members = new Set<RunningProcess>();
  const candidates = living.filter(
    (entry) =>
      entry.startTime >= since &&
      entry.outlives !== true &&
      !strangers.has(entry.pid) &&
      !carriesAnother(tree, entry),
  );
  for (const entry of candidates) {
    if (tree.known.get(entry.pid) === entry.startTime || carries(tree, entry)) members.add(entry);
  }
  if (ownsSession(tree, living, members)) {
    for (const entry of candidates) if (entry.session === tree.root?.pid) members.add(entry);
  }
  addDescendants(members, candidates);
  return [...members].sort((a, b) => a.startTime - b.startTime || a.pid - b.pid);
}

/**
 * The system does not reuse a session id until all members of the session have ended. In a tree that we watch, we would
 * notice that, so it is enough that no other process has the pid of the root. Otherwise one process of the session must
 * be proven to be ours: the root itself, a carrier of the cookie, or a member seen before.
 */
function ownsSession(
  { root, watched }: ProcessTree,
  living: readonly RunningProcess[],
  members: ReadonlySet<RunningProcess>,
): boolean {
  if (root === undefined) return false;
  if (!watched) return [...members].some((entry) => entry.session === root.pid);
  const leader = living.find((entry) => entry.pid === root.pid);
  return leader === undefined || leader.startTime === root.startTime;
}

function carries(tree: ProcessTree, entry: RunningProcess): boolean {
  return entry.cookie !== undefined && (tree.cookie === ANY_COOKIE || tree.cookie === entry.cookie);
}

function carriesAnother(tree: ProcessTree, entry: RunningProcess): boolean {
  return entry.cookie !== undefined && !carries(tree, entry);
}

/** Iterating a Set includes elements added during the loop, so children of children follow. */
function addDescendants(members: Set<RunningProcess>, candidates: readonly RunningProcess[]): void {
  const childrenOf = new Map<number, RunningProcess[]>();
  for (const entry of candidates) {
    const siblings = childrenOf.get(entry.parent);
    if (siblings === undefined) childrenOf.set(entry.parent, [entry]);
    else siblings.push(entry);
  }
  for (const member of members) {
    for (const child of childrenOf.get(member.pid) ?? []) {
      if (child.startTime >= member.startTime) members.add(child);
    }
  }
}
