import type { ProcessList, RunningProcess } from './process-list.ts';
import { treeMembers, type ProcessTree } from './process-tree.ts';

/** When each stage begins, in milliseconds after the stop was requested. */
export interface StopStages {
  /** Closes stdin, which is how MCP asks a server to end. Default 0. */
  readonly closeStdin?: number;
  /** Sends SIGTERM to the whole tree; 0 skips the wait for stdin. Default 2000. */
  readonly term?: number;
  /** Sends SIGKILL to the whole tree. Default 5000. */
  readonly kill?: number;
  /** Gives up and reports survivors. Default 1000 after `kill`. */
  readonly giveUp?: number;
}

/** The strongest means used before the tree had ended. */
export type StopMeans = 'nothing' | 'stdin' | 'term' | 'kill';

export interface SurvivingProcess {
  readonly pid: number;
  /** The child whose tree it belongs to. */
  readonly name: string;
}

export type StopReport =
  | { readonly kind: 'gone'; readonly by: StopMeans; readonly milliseconds: number }
  | { readonly kind: 'left'; readonly survivors: readonly SurvivingProcess[]; readonly milliseconds: number };

export interface StopTarget {
  readonly name: string;
  readonly tree: ProcessTree;
  /** Ends stdin after pending writes; with `now`, does not wait for a child that does not read. */
  closeStdin(now: boolean): void;
}

export interface Terminator {
  /** Resolves as soon as the whole tree has ended. If called again, the earlier time of each stage applies. */
  stop(target: StopTarget, stages?: StopStages): Promise<StopReport>;
  /** Checks once whether a process of the tree is alive. */
  anyAlive(tree: ProcessTree): boolean;
  /** Sends SIGKILL to all of these repeatedly for a few milliseconds, synchronously. */
  killNow(trees: readonly ProcessTree[]): void;
}

export interface TerminatorOptions {
  readonly processes: ProcessList;
  /** Pids that are never signalled: our own and our reaper's. */
  readonly strangers: () => ReadonlySet<number>;
}

interface Stopping {
  readonly target: StopTarget;
  readonly began: number;
  due: Required<StopStages>;
  used: StopMeans;
  /** The number of checks in a row that found no process. */
  empty: number;
  /** Processes that were sent SIGTERM: once each, because many programs take a second one to mean "hurry". */
  readonly signalled: Map<number, number>;
  readonly report: Promise<StopReport>;
  readonly finish: (report: StopReport) => void;
}

/** Most trees end within this time after a start or a signal, so checks are close together then. */
const EAGER_TIME = 250;
const EAGER_POLL = 10;
const CALM_POLL = 50;
/** A process in the middle of `exec` shows no environment, so a single empty check proves nothing. */
const LOOKS_TO_BE_SURE = 2;

/** Ends process trees in stages. Each tick reads the process list once for all trees. */
export function createTerminator({ processes, strangers }: TerminatorOptions): Terminator {
  const active = new Map<ProcessTree, Stopping>();
  let timer: NodeJS.Timeout | undefined;
  let eagerUntil = 0;

  const look = (trees: Iterable<ProcessTree>): readonly RunningProcess[] => {
    let since = Infinity;
    for (const tree of trees) since = Math.min(since, tree.root?.startTime ?? 0);
    return processes.read(since);
  };

  const identified = (tree: ProcessTree, living: readonly RunningProcess[]): RunningProcess[] => {
    const members = treeMembers(tree, living, strangers());
    tree.known.clear();
    for (const { pid, startTime } of members) tree.known.set(pid, startTime);
    return members;
  };

  const schedule = (wait: number): void => {
    clearTimeout(timer);
    timer = setTimeout(tick, wait);
  };

  const tick = (): void => {
    const began = performance.now();
    const living = look(active.keys());
    for (const [tree, stopping] of active) {
      const before = stopping.used;
      const members = identified(tree, living);
      stopping.empty = members.length === 0 ? stopping.empty + 1 : 0;
      advance(stopping, members, processes);
      if (stopping.used !== before) eagerUntil = performance.now() + EAGER_TIME;
      // Check again after SIGKILL before reporting survivors.
      const report = verdict(stopping, before === 'kill');
      if (report === undefined) continue;
      active.delete(tree);
      stopping.finish(report);
    }
    if (active.size === 0) return;
    const ended = performance.now();
    const poll = ended < eagerUntil ? EAGER_POLL : CALM_POLL;
    // Reading the list is slow on a busy machine or with thousands of processes, so spend at most a fifth of the time
    // on it. Stages still start on time.
    const stage = Math.min(...[...active.values()].map(({ due }) => nextStage(due, ended)));
    schedule(Math.max(poll, Math.min(4 * (ended - began), stage - ended)));
  };

  return {
    stop(target, stages = {}) {
      const stopping = active.get(target.tree) ?? begin(target);
      const requested = dueTimes(stages, performance.now());
      stopping.due = active.has(target.tree) ? earlier(stopping.due, requested) : requested;
      active.set(target.tree, stopping);
      advance(stopping, [], processes);
      eagerUntil = performance.now() + EAGER_TIME;
      // Not immediately, so that all stops requested in this turn share the first list.
      schedule(0);
      return stopping.report;
    },
    anyAlive: (tree) => identified(tree, look([tree])).length > 0,
    killNow(trees) {
      for (let round = 0; round < 4; round++) {
        const living = look(trees);
        const members = trees.flatMap((tree) => identified(tree, living));
        if (members.length === 0) return;
        for (const member of members) processes.signal(member, 'SIGKILL');
        pause(5);
      }
    },
  };
}

function begin(target: StopTarget): Stopping {
  let finish!: Stopping['finish'];
  const report = new Promise<StopReport>((resolve) => (finish = resolve));
  const began = performance.now();
  return {
    target,
    began,
    due: dueTimes({}, began),
    used: 'nothing',
    empty: 0,
    signalled: new Map(),
    report,
    finish,
  };
}

function dueTimes(
  { closeStdin = 0, term = 2000, kill = 5000, giveUp = kill + 1000 }: StopStages,
  from: number,
) {
  return { closeStdin: from + closeStdin, term: from + term, kill: from + kill, giveUp: from + giveUp };
}

function earlier(a: Required<StopStages>, b: Required<StopStages>): Required<StopStages> {
  return {
    closeStdin: Math.min(a.closeStdin, b.closeStdin),
    term: Math.min(a.term, b.term),
    kill: Math.min(a.kill, b.kill),
    giveUp: Math.min(a.giveUp, b.giveUp),
  };
}

function nextStage({ term, kill }: Required<StopStages>, now: number): number {
  return Math.min(...[term, kill].filter((at) => at > now));
}

/** Applies the means that are due to these members. */
function advance(stopping: Stopping, members: readonly RunningProcess[], processes: ProcessList): void {
  const { target, due, signalled } = stopping;
  const now = performance.now();
  if (now >= due.term) {
    target.closeStdin(true);
  } else if (now >= due.closeStdin && stopping.used === 'nothing') {
    target.closeStdin(false);
    stopping.used = 'stdin';
  }
  for (const member of members) {
    if (now >= due.kill) {
      if (processes.signal(member, 'SIGKILL') !== 'later') stopping.used = 'kill';
    } else if (now >= due.term && signalled.get(member.pid) !== member.startTime) {
      if (processes.signal(member, 'SIGTERM') === 'later') continue;
      signalled.set(member.pid, member.startTime);
      stopping.used = 'term';
    }
  }
}

function verdict(
  { target, began, due, used, empty }: Stopping,
  killedBefore: boolean,
): StopReport | undefined {
  const now = performance.now();
  const milliseconds = Math.round(now - began);
  if (empty >= LOOKS_TO_BE_SURE) return { kind: 'gone', by: used, milliseconds };
  if (empty > 0 || now < due.giveUp || (used === 'kill' && !killedBefore)) return undefined;
  const survivors = [...target.tree.known.keys()].map((pid) => ({ pid, name: target.name }));
  return { kind: 'left', survivors, milliseconds };
}

function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
