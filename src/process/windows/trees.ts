import { spawn, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import type { ProcessList, RunningProcess } from '../process-list.ts';
import { sendSignal } from '../send-signal.ts';
import { watcherProgram } from './watcher-program.ts';

/** The processes of our children on Windows. */
export interface WindowsTrees {
  readonly processes: ProcessList;
  /** Starts the watcher, which ends our children if we are killed and tells us their descendants. */
  readonly spawnWatcher: () => ChildProcess;
}

interface Tree {
  readonly root: number;
  readonly startTime: number;
  /** Whether its exit is still to be collected: until then, Node keeps its pid from being reused. */
  running: boolean;
  /** Its descendants, as of the last look. */
  members: readonly number[];
  /** When the watcher last reported them, on the performance clock. */
  heardAt: number;
  /** The look that must have answered before the tree counts as gone. */
  goneAfter: number;
  /** When it was first asked to end while its members were unknown, on the performance clock. */
  waitsSince: number | undefined;
}

/** The maximum age of the watcher's report when a tree is ended, in milliseconds: pids are soon reused. */
const FRESH = 2000;
/** The longest wait for the watcher before a tree is ended without its report, in milliseconds. */
const LONGEST_WAIT = 10_000;

/**
 * Environments and sessions of other processes are not visible, so a tree is everything that descends from its root by
 * the pid of the parent. Listing all processes takes a moment, so the watcher does it, and this uses its last report.
 */
export function createWindowsTrees(): WindowsTrees {
  const trees = new Map<number, Tree>();
  let watcher: ChildProcess | undefined;
  let asked = 0;
  let answered = 0;
  const ask = (): void => {
    asked += 1;
    watcher?.stdin?.write('look\n');
  };

  /** Whether the pids that the watcher reported are recent enough not to have been reused. */
  const isFresh = ({ heardAt }: Tree): boolean => performance.now() - heardAt < FRESH;

  /**
   * Whether the current members of a tree are known. When its root ends, others may end with it, and what those had
   * started could not be found any more.
   */
  const isKnown = (tree: Tree): boolean => {
    if (watcher === undefined || isFresh(tree)) return true;
    const now = performance.now();
    tree.waitsSince ??= now;
    return now - tree.waitsSince > LONGEST_WAIT;
  };

  const note = (line: string): void => {
    const [verb, count, ...lists] = line.split(' ');
    if (verb !== 'looked') return;
    answered = Math.max(answered, Number(count));
    for (const list of lists) {
      const [root, pids = ''] = list.split(':');
      const tree = trees.get(Number(root));
      if (tree === undefined) continue;
      tree.heardAt = performance.now();
      tree.members = pids
        .split(',')
        .map(Number)
        .filter((pid) => pid > 0 && pid !== tree.root);
    }
  };

  const entriesOf = (tree: Tree): RunningProcess[] => {
    const { root, startTime, running, goneAfter } = tree;
    const members = isFresh(tree) ? tree.members : [];
    const isOpen = answered < goneAfter || members.length < tree.members.length;
    // Until it is known whether anything is left of the tree, the root represents it.
    const first = running || (watcher !== undefined && isOpen) ? [root] : [];
    const entries = [...first, ...members].map((pid) => ({
      pid,
      parent: pid === root ? process.pid : root,
      session: root,
      startTime,
      cookie: undefined,
    }));
    if (entries.length === 0) trees.delete(root);
    return entries;
  };

  return {
    processes: {
      read() {
        // One request at a time is enough.
        if (trees.size > 0 && answered === asked) ask();
        return [...trees.values()].flatMap(entriesOf);
      },
      identify(pid, since = Date.now()) {
        trees.set(pid, {
          root: pid,
          startTime: since,
          running: true,
          members: [],
          heardAt: -Infinity,
          goneAfter: 0,
          waitsSince: undefined,
        });
        return { pid, startTime: since };
      },
      signal({ pid }, signal) {
        const tree = trees.get(pid);
        if (tree?.running === false) return 'gone';
        if (tree !== undefined && !isKnown(tree)) return 'later';
        return sendSignal(pid, signal);
      },
      collected(pid) {
        const tree = trees.get(pid);
        if (tree === undefined) return;
        tree.running = false;
        // A look that began earlier may have missed what the process started last.
        ask();
        tree.goneAfter = asked;
      },
    },
    spawnWatcher() {
      const child = spawn(process.execPath, ['-e', watcherProgram()], {
        cwd: process.env['SystemRoot'],
        env: watcherEnvironment(),
        stdio: ['pipe', 'pipe', 'ignore'],
        // It has to outlive us: Windows ends all other children of Node together with it.
        detached: true,
        windowsHide: true,
      });
      watcher = child;
      asked = answered = 0;
      for (const tree of trees.values()) tree.goneAfter = 0;
      const lost = (): void => {
        if (watcher === child) watcher = undefined;
      };
      child.on('exit', lost).on('error', lost);
      child.stdin.on('error', () => undefined);
      let text = '';
      child.stdout.setEncoding('latin1').on('data', (chunk: string) => {
        const lines = (text + chunk).split('\n');
        text = lines.pop() ?? '';
        for (const line of lines) note(line);
      });
      child.unref();
      for (const pipe of [child.stdin, child.stdout]) (pipe as Socket).unref();
      return child;
    },
  };
}

/**
 * What Windows needs to start programs, and what Electron needs to act as Node if the host provides it. Nothing else
 * from our environment, such as options for Node.
 */
function watcherEnvironment(): Record<string, string> {
  const names = ['SystemRoot', 'SystemDrive', 'windir', 'PATH', 'TEMP', 'TMP', 'ELECTRON_RUN_AS_NODE'];
  return Object.fromEntries(
    names.flatMap((name): [string, string][] => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
