import type { ChildProcess } from 'node:child_process';
import { followLineage, type Lineage } from './tree-lineage.ts';
import { parseProcessTable, TABLE_QUERIES, type TableEntry, type TableQuery } from './process-table.ts';

/** The code from other files that the watcher needs, because it is sent to another Node as text. */
interface WatcherParts {
  readonly follow: typeof followLineage;
  readonly parse: typeof parseProcessTable;
  readonly queries: readonly TableQuery[];
  readonly spawn: (file: string, args: readonly string[], options: object) => ChildProcess;
}

/** The source code of the watcher, for `node -e`. */
export function watcherProgram(): string {
  const parts = [
    `follow: ${followLineage.toString()}`,
    `parse: ${parseProcessTable.toString()}`,
    `queries: ${JSON.stringify(TABLE_QUERIES)}`,
    `spawn: require('node:child_process').spawn`,
  ];
  return `// switchboard watcher: ends the servers of a switchboard that is gone\n(${watch.toString()})({${parts.join(', ')}})`;
}

/**
 * Reads commands from its stdin, one per line:
 *   enlist PID START    a tree to end, by its first process and a time shortly before that process started
 *   release PID START   that tree has ended
 *   look                list the members of all trees again
 *   dismiss             nothing left to do, exit
 * After each look it writes `looked COUNT ROOT:PID,PID ROOT:…`; COUNT is the number of requests received before that
 * look began. When its stdin ends, the gateway has ended for whatever reason, and the watcher ends the trees.
 *
 * Uses nothing from outside except its argument.
 */
function watch({ follow, parse, queries, spawn }: WatcherParts): void {
  /** A tree can only be followed through processes that were seen while they ran, so the watcher looks repeatedly. */
  const LOOKS_AFTER = [500, 2_000, 6_000, 20_000, 60_000];
  const LOOKS_EVERY = 300_000;
  /** On a busy machine, just starting PowerShell takes several seconds. */
  const QUERY_TIMEOUT = 30_000;

  const trees = new Map<number, { readonly since: string; readonly lineage: Map<number, Lineage> }>();
  let seen = new Map<number, number>();
  let usable = [...queries];
  let asked = 0;
  let answered = 0;
  let looking: Promise<void> | undefined;
  let ended = false;
  let timers: NodeJS.Timeout[] = [];

  const { stdin, stdout } = process;
  stdout.on('error', () => undefined);
  stdin.on('error', end);
  stdin.on('end', end);
  let text = '';
  stdin.setEncoding('latin1').on('data', (chunk: string) => {
    const lines = (text + chunk).split('\n');
    text = lines.pop() ?? '';
    for (const line of lines) obey(line.split(' '));
  });

  function obey([verb, one, two = '']: string[]): void {
    const pid = Number(one);
    if (verb === 'enlist') {
      // The clock that timestamps processes ticks every 16 ms.
      const start = Number(two) - 20;
      const root = { pid, parent: process.ppid, start, latest: Date.now(), gone: false };
      trees.set(pid, { since: two, lineage: new Map([[pid, root]]) });
      lookLater();
    } else if (verb === 'release' && trees.get(pid)?.since === two) {
      trees.delete(pid);
      if (trees.size === 0) for (const timer of timers) clearTimeout(timer);
    } else if (verb === 'look') {
      asked += 1;
      void lookUntilAnswered();
    } else if (verb === 'dismiss') {
      process.exit(0);
    }
  }

  function lookLater(): void {
    for (const timer of timers) clearTimeout(timer);
    timers = LOOKS_AFTER.map((after) => setTimeout(() => void look(), after));
    timers.push(setInterval(() => void look(), LOOKS_EVERY));
  }

  async function lookUntilAnswered(): Promise<void> {
    while (answered < asked) await look();
  }

  /** One look at a time; requests that arrive while it runs share it. */
  function look(): Promise<void> {
    looking ??= lookOnce().finally(() => {
      looking = undefined;
    });
    return looking;
  }

  async function lookOnce(): Promise<void> {
    const count = asked;
    // Without an answer, use what was known last.
    const found = (await membersNow()) ?? [...trees].map(([root, { lineage }]) => [root, running(lineage)]);
    answered = Math.max(answered, count);
    if (!ended) stdout.write(`looked ${[count, ...found.map((each) => each.join(':'))].join(' ')}\n`);
  }

  /** The root of each tree and its running members; undefined if the system does not answer. */
  async function membersNow(): Promise<(readonly [root: number, members: number[]])[] | undefined> {
    const table = await readTable();
    if (table.length === 0) return undefined;
    const at = Date.now();
    seen = new Map(table.map(({ pid }) => [pid, seen.get(pid) ?? at]));
    for (const { lineage } of trees.values()) follow(lineage, table, seen);
    return [...trees].map(([root, { lineage }]) => [root, running(lineage)]);
  }

  function running(lineage: Map<number, Lineage>): number[] {
    return [...lineage.values()].filter(({ gone }) => !gone).map(({ pid }) => pid);
  }

  async function readTable(): Promise<TableEntry[]> {
    const useless: TableQuery[] = [];
    for (const query of usable) {
      const output = await outputOf(query);
      const table = output === undefined ? [] : parse(output);
      if (table.length > 0) {
        usable = usable.filter((each) => !useless.includes(each));
        return table;
      }
      // A query that does not work here is not tried again, but one that took too long is.
      if (output !== undefined) useless.push(query);
    }
    return [];
  }

  function outputOf({ program, args }: TableQuery): Promise<Uint8Array | undefined> {
    const system = `${process.env['SystemRoot'] ?? 'C:\\Windows'}\\System32\\`;
    return new Promise((resolve) => {
      const child = spawn(system + program, args, { stdio: ['ignore', 'pipe', 'ignore'], windowsHide: true });
      const chunks: Uint8Array[] = [];
      const clock = setTimeout(() => {
        child.kill();
        resolve(undefined);
      }, QUERY_TIMEOUT);
      child.stdout?.on('data', (chunk: Uint8Array) => chunks.push(chunk));
      const done = (): void => {
        clearTimeout(clock);
        resolve(Buffer.concat(chunks));
      };
      child.on('error', done);
      child.on('close', done);
    });
  }

  function end(): void {
    if (ended) return;
    ended = true;
    for (const timer of timers) clearTimeout(timer);
    void endTrees().then(() => process.exit(0));
  }

  async function endTrees(): Promise<void> {
    let quiet = 0;
    for (let round = 0; round < 50 && quiet < 2 && trees.size > 0; round++) {
      await looking;
      const members = (await membersNow())?.flatMap(([, pids]) => pids);
      for (const pid of members ?? []) kill(pid);
      // No answer does not mean that nothing is left.
      if (members !== undefined) quiet = members.length === 0 ? quiet + 1 : 0;
      if (quiet < 2) await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  function kill(pid: number): void {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended, or we may not end it.
    }
  }
}
