import { randomBytes } from 'node:crypto';
import { messageOf, SwitchboardError } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';
import { openCgroups, type Cgroups } from './cgroup.ts';
import { dropInheritance } from './drop-inheritance.ts';
import { createProcessList } from './process-list.ts';
import { spawnRoot, type RootProcess } from './root-process.ts';
import type { SpawnOptions } from './spawnable.ts';
import { createCpuMeter, type CpuMeter } from './cpu-use.ts';
import { ANY_COOKIE, createProcessTree, type ProcessTree } from './process-tree.ts';
import { canReap, createReaper, DEFAULT_SHELL } from './reaper.ts';
import { pathBehind } from './search-path.ts';
import { SignsOfLife } from './signs-of-life.ts';
import type { SweepOptions } from './sweep-runs.ts';
import {
  createTerminator,
  type StopMeans,
  type StopReport,
  type StopStages,
  type StopTarget,
} from './terminate.ts';
import { windows } from './windows.ts';

/**
 * One of our processes with all its descendants. `onExit` reports that the process itself has exited; its descendants
 * may continue (and hold its pipes) until `stop()`.
 */
export interface Child extends Omit<RootProcess, 'closeStdin' | 'releasePipes'> {
  readonly name: string;
  /**
   * Watches for signs of life until stopped. `looked` is called with the milliseconds since the last one. Something
   * else must already be reading the outputs.
   */
  watch(looked: (idleMs: number) => void): SignsOfLife;
  /** Stops the process and all its descendants; resolves when all have ended. May be called at any time. */
  stop(stages?: StopStages): Promise<StopReport>;
}

/** All children of this run of the program. */
export interface ChildProcesses {
  /** Never throws: a failed start is a state of the child. */
  spawn(options: SpawnOptions): Child;
  /** Stops all children in parallel. Final: every later spawn fails. */
  stopAll(stages?: StopStages): Promise<StopReport>;
  /**
   * Sends SIGKILL to everything synchronously, for exits that cannot wait. Final and best effort; the reaper does the
   * rest.
   */
  killAllNow(): void;
  /** The number of children that may still have a living process. */
  readonly size: number;
}

export interface ChildProcessesOptions {
  readonly log: Logger;
  /**
   * The directory where runs record what they started. What earlier runs left is ended soon after the start. Default:
   * nothing is recorded or ended.
   */
  readonly records?: string | undefined;
  /** Whether children are kept in cgroups if possible. Default true. */
  readonly cgroups?: boolean;
}

interface Member {
  readonly child: Child;
  readonly root: RootProcess;
  readonly tree: ProcessTree;
  stopping: boolean;
}

const COOKIE_PREFIX = 'SWITCHBOARD_RUN_';
/** How often a child whose root has exited is checked for remaining processes, in milliseconds. */
const LINGER_POLL = 5000;
const CONFIRM_AFTER = 20;
/**
 * How long after the start the leftovers of earlier runs are ended, in milliseconds. A host gets its first answers
 * before that.
 */
const SWEEP_AFTER = 1000;

export function createChildProcesses(options: ChildProcessesOptions): ChildProcesses {
  const { log, records } = options;
  // The name is unique as well as the value: a gateway inside this one adds its own cookie and cannot overwrite ours.
  const cookieName = `${COOKIE_PREFIX}${randomBytes(8).toString('hex')}`;
  const outerCookies = cookiesIn(process.env);
  let cgroups: Cgroups | undefined;
  const trees = windows()?.createWindowsTrees();
  const processes = trees?.processes ?? createProcessList(cookieName, () => cgroups !== undefined);
  // System tools come first, not what a project has put at the front of the PATH.
  const reaperEnv = { PATH: pathBehind('/usr/bin', '/bin'), LC_ALL: 'C', ...outerCookies };
  const reaper = createReaper({ log, cookieName, env: reaperEnv, records, program: trees?.spawnWatcher });
  if (records !== undefined && canReap(DEFAULT_SHELL)) {
    setTimeout(() => void sweepRuns({ directory: records, env: reaperEnv, log }), SWEEP_AFTER).unref();
  }
  const strangers = (): Set<number> => new Set([process.pid, reaper.pid ?? 0]);
  const terminator = createTerminator({ processes, strangers });
  const members = new Set<Member>();
  let meter: CpuMeter | undefined;
  let started = false;
  let closed = false;

  const forget = (member: Member): void => {
    members.delete(member);
    cgroups?.remove(`${cookieName}=${member.tree.cookie}`);
    if (member.tree.root !== undefined) reaper.release(member.tree.root);
  };

  // A child whose root has exited on its own remains a member while any of its processes lives: one of these may be the
  // actual server.
  const settle = (member: Member, sure: boolean): void => {
    if (member.stopping || !members.has(member)) return;
    if (terminator.anyAlive(member.tree)) setTimeout(settle, LINGER_POLL, member, false).unref();
    else if (sure) forget(member);
    else setTimeout(settle, CONFIRM_AFTER, member, true).unref();
  };

  const stop = async (member: Member, stages: StopStages | undefined): Promise<StopReport> => {
    if (!members.has(member)) return { kind: 'gone', by: 'nothing', milliseconds: 0 };
    const { root, tree, child } = member;
    member.stopping = true;
    const report = await terminator.stop(
      { name: child.name, tree, closeStdin: (now) => root.closeStdin(now) },
      stages,
    );
    if (report.kind === 'left') {
      member.stopping = false;
      log.warn('processes of a server could not be stopped', { server: child.name, pids: pidsOf(report) });
      return report;
    }
    // The tree has ended, so the exit event of its root is about to arrive.
    await new Promise<void>((resolve) => root.onExit(() => resolve()));
    root.releasePipes();
    forget(member);
    return report;
  };

  const spawn = (program: SpawnOptions): Child => {
    dropInheritance();
    if (!started && options.cgroups !== false) cgroups = openCgroups();
    if (!closed) reaper.ready(cgroups?.directory);
    const cookie = randomBytes(8).toString('hex');
    const direct = { ...program, env: { ...program.env, ...outerCookies, [cookieName]: cookie } };
    const cgroup = closed ? undefined : cgroups;
    const group = `${cookieName}=${cookie}`;
    const inside = cgroup?.startIn(group, direct);
    const since = Date.now();
    const root = spawnRoot(inside ?? direct, closed ? shuttingDown(program.name) : undefined);
    const identity = root.pid === undefined ? undefined : processes.identify(root.pid, since);
    if (identity !== undefined) reaper.enlist(identity);
    const child: Child = {
      name: program.name,
      pid: root.pid,
      stdin: root.stdin,
      stdout: root.stdout,
      stderr: root.stderr,
      get state() {
        return root.state;
      },
      onExit: (listener) => root.onExit(listener),
      watch: (looked) =>
        new SignsOfLife({
          pid: root.pid ?? 0,
          meter: (meter ??= createCpuMeter()),
          outputs: [root.stdout, root.stderr],
          looked,
        }),
      stop: (stages) => stop(member, stages),
    };
    const member: Member = {
      child,
      root,
      tree: createProcessTree({ root: identity, cookie }, true),
      stopping: false,
    };
    const { pid } = root;
    if (pid === undefined) {
      cgroup?.remove(group);
      return child;
    }
    started = true;
    members.add(member);
    if (inside === undefined) cgroup?.add(group, pid);
    root.onExit(() => {
      processes.collected(pid);
      settle(member, false);
    });
    log.debug('process started', { server: child.name, pid });
    return child;
  };

  return {
    spawn,
    async stopAll(stages) {
      closed = true;
      const began = performance.now();
      const reports: StopReport[] = await Promise.all([...members].map((member) => stop(member, stages)));
      // Nothing more can be done about the survivors now. When we exit, the reaper tries again.
      if (!reports.some((report) => report.kind === 'left') && started) {
        reports.push(await terminator.stop(remains(), { term: 0, kill: 500 }));
      }
      const report = summary(reports, Math.round(performance.now() - began));
      if (report.kind === 'gone') reaper.dismiss();
      return report;
    },
    killAllNow() {
      closed = true;
      if (!started) return;
      terminator.killNow([...[...members].map((member) => member.tree), remains().tree]);
    },
    get size() {
      return members.size;
    },
  };
}

async function sweepRuns(options: SweepOptions): Promise<void> {
  try {
    // Loaded only when needed: most runs end everything they started.
    const { sweepRuns: sweep } = await import('./sweep-runs.ts');
    await sweep(options);
  } catch (error) {
    options.log.debug('could not look for what earlier runs left', { reason: messageOf(error) });
  }
}

/** The cookies of the gateways that we run inside. Our children carry them too, whatever their own environment. */
function cookiesIn(env: NodeJS.ProcessEnv): Record<string, string> {
  const cookies: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (name.startsWith(COOKIE_PREFIX) && value !== undefined) cookies[name] = value;
  }
  return cookies;
}

/** Processes that still carry a cookie of this run although their child was considered gone. */
function remains(): StopTarget {
  return {
    name: 'a former child',
    tree: createProcessTree({ root: undefined, cookie: ANY_COOKIE }),
    closeStdin: () => undefined,
  };
}

function shuttingDown(name: string): SwitchboardError {
  return new SwitchboardError('SHUTTING_DOWN', `"${name}" was not started: the gateway is shutting down.`);
}

const MEANS: readonly StopMeans[] = ['nothing', 'stdin', 'term', 'kill'];

function summary(reports: readonly StopReport[], milliseconds: number): StopReport {
  const survivors = reports.flatMap((report) => (report.kind === 'left' ? report.survivors : []));
  if (survivors.length > 0) return { kind: 'left', survivors, milliseconds };
  const strongest = Math.max(
    0,
    ...reports.map((report) => (report.kind === 'gone' ? MEANS.indexOf(report.by) : 0)),
  );
  return { kind: 'gone', by: MEANS[strongest] ?? 'nothing', milliseconds };
}

function pidsOf({ survivors }: { readonly survivors: readonly { readonly pid: number }[] }): string {
  return survivors.map(({ pid }) => pid).join(' ');
}
