import { randomUUID } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { until } from './until.ts';

/** A value in the environment of a process that identifies it and all its descendants. */
export interface Marker {
  readonly value: string;
  /** To be merged into the environment of the process to start. */
  readonly env: Readonly<Record<string, string>>;
}

export interface FoundProcess {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

export function marker(): Marker {
  const value = `marker-${randomUUID()}`;
  return { value, env: { SWITCHBOARD_TEST_MARKER: value } };
}

/** Every living process with the marker in its environment. Linux only: elsewhere the result would be a guess. */
export function processesWith({ value }: Marker): FoundProcess[] {
  return pids().flatMap((pid) => {
    try {
      if (!readFileSync(`/proc/${pid}/environ`).includes(value)) return [];
      const stat = statOf(pid);
      if (stat === undefined || isDead(stat.state)) return [];
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').join(' ').trim();
      return [{ pid, parent: stat.parent, command }];
    } catch {
      return []; // It has ended meanwhile, or belongs to another user.
    }
  });
}

/** Throws, naming the survivors, if processes with the marker are still alive at the deadline. */
export async function waitUntilGone(wanted: Marker, deadline = 10_000): Promise<void> {
  await until(() => processesWith(wanted).length === 0, {
    deadline,
    what: 'all processes of the test to be gone',
    seen: () =>
      processesWith(wanted)
        .map(({ pid, command }) => `${pid} ${command}`)
        .join('; '),
  });
}

/** Sends SIGKILL to every process with the marker until none is left. For cleaning up, not as a check. */
export async function killAll(wanted: Marker): Promise<void> {
  await until(
    () => {
      const left = processesWith(wanted);
      for (const { pid } of left) {
        try {
          process.kill(pid, 'SIGKILL');
        } catch {
          // It has ended meanwhile.
        }
      }
      return left.length === 0;
    },
    { what: 'killed processes to be gone', every: 10 },
  );
}

/** Whether a process with this pid is running. A zombie is dead. */
export function alive(pid: number): boolean {
  if (process.platform === 'linux') {
    const stat = statOf(pid);
    return stat !== undefined && !isDead(stat.state);
  }
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function pids(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

function isDead(state: string): boolean {
  return state === 'Z' || state === 'X';
}

/** The command name may contain spaces and brackets, so fields are counted from the last `)`. */
function statOf(pid: number): { state: string; parent: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, parent] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return state === undefined ? undefined : { state, parent: Number(parent) };
  } catch {
    return undefined;
  }
}
