import { readdirSync } from 'node:fs';
import { hasProc, readProcFile } from './proc-file.ts';
import { psColumns } from './ps-columns.ts';
import { run } from './run.ts';

/** A process and the CPU time it had used at a point in time. */
export interface ProcessCpu {
  readonly pid: number;
  readonly parent: number;
  /** Its session; if sessions are not visible, its process group; if there are neither, its own pid. */
  readonly session: number;
  /** The CPU time used by the process and the children it has waited for, in milliseconds. */
  readonly cpuMs: number;
  /** Whether it is running, waiting for a free CPU or waiting for the disk. */
  readonly working: boolean;
}

/** The total of a process and its descendants. */
export type CpuUse = Pick<ProcessCpu, 'cpuMs' | 'working'>;

export interface CpuMeter {
  /** The shortest interval at which reading is cheap enough, in milliseconds. */
  readonly everyMs: number;
  /** Reads all processes; empty if the system does not expose them. */
  readonly look: () => Promise<readonly ProcessCpu[]>;
}

/** The meter for this system. Concurrent calls share one reading, however many processes are watched. */
export function createCpuMeter(): CpuMeter {
  const { everyMs, look } = meterOf(process.platform);
  let shared: Promise<readonly ProcessCpu[]> | undefined;
  return {
    everyMs,
    look: () => {
      if (shared === undefined) {
        shared = look().catch(() => []);
        setTimeout(() => (shared = undefined), everyMs / 5).unref();
      }
      return shared;
    },
  };
}

/** The total of a process and all its descendants; undefined if it is not visible. */
export function cpuUseOf(root: number, all: readonly ProcessCpu[]): CpuUse | undefined {
  const members = new Set(all.filter((entry) => entry.pid === root || entry.session === root));
  if (members.size === 0) return undefined;
  // Iterating a Set includes elements added during the loop, so children of children follow.
  for (const { pid } of members) for (const entry of all) if (entry.parent === pid) members.add(entry);
  let cpuMs = 0;
  let working = false;
  for (const member of members) {
    cpuMs += member.cpuMs;
    working ||= member.working;
  }
  return { cpuMs, working };
}

function meterOf(platform: NodeJS.Platform): CpuMeter {
  if (platform === 'win32')
    return { everyMs: 3000, look: async () => parseCimCpu(await output('powershell', CIM)) };
  if (hasProc()) return { everyMs: 250, look: () => Promise.resolve(readProc()) };
  return { everyMs: 1000, look: async () => parsePsCpu(await output('ps', PS)) };
}

async function output(command: string, args: readonly string[]): Promise<string> {
  const env = { ...process.env, LC_ALL: 'C' };
  return (await run(command, args, { cwd: process.cwd(), env, timeout: 5000 })).stdout;
}

function readProc(): ProcessCpu[] {
  return readdirSync('/proc').flatMap((name) =>
    /^\d+$/.test(name) ? (parseStatCpu(readProcFile(`/proc/${name}/stat`)) ?? []) : [],
  );
}

/** The kernel reports times in hundredths of a second, independent of its own clock rate. */
const TICK_MS = 10;

/** Parses `/proc/PID/stat`; undefined if the text is invalid. */
export function parseStatCpu(text: string): ProcessCpu | undefined {
  // The second field is a name the program chooses; it may contain spaces and parentheses.
  const nameEnd = text.lastIndexOf(')');
  const [state, parent, , session, ...rest] = text.slice(nameEnd + 2).split(' ', 15);
  if (nameEnd === -1 || rest.length < 11) return undefined;
  const ticks = rest.slice(7).reduce((sum, each) => sum + Number(each), 0);
  return {
    pid: Number.parseInt(text, 10),
    parent: Number(parent),
    session: Number(session),
    cpuMs: ticks * TICK_MS,
    working: state === 'R' || state === 'D',
  };
}

const PS = ['-ax', ...psColumns('pid', 'ppid', 'pgid', 'stat', 'time')];

/** Lines of `pid ppid pgid stat [[days-]hours:]minutes:seconds[.hundredths]`. */
export function parsePsCpu(text: string): ProcessCpu[] {
  return text.split('\n').flatMap((line) => {
    const [pid, parent, session, stat = '', time = '', ...more] = line.trim().split(/\s+/);
    if (time === '' || more.length > 0) return [];
    const [days, clock = ''] = time.includes('-') ? time.split('-') : ['0', time];
    const seconds = clock.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
    return [
      {
        pid: Number(pid),
        parent: Number(parent),
        session: Number(session),
        cpuMs: Math.round((Number(days) * 86_400 + seconds) * 1000),
        working: /^[RDU]/.test(stat),
      },
    ];
  });
}

const CIM = [
  '-NoProfile',
  '-NonInteractive',
  '-Command',
  "Get-CimInstance Win32_Process | ForEach-Object { '{0} {1} {2}' -f $_.ProcessId, $_.ParentProcessId, " +
    '[math]::Floor(($_.KernelModeTime + $_.UserModeTime) / 10000) }',
];

/** Lines of `pid parent milliseconds`. */
export function parseCimCpu(text: string): ProcessCpu[] {
  return [...text.matchAll(/^(\d+) (\d+) (\d+)\s*$/gm)].map((match) => {
    const [pid, parent, cpuMs] = match.slice(1).map(Number) as [number, number, number];
    return { pid, parent, session: pid, cpuMs, working: false };
  });
}
