import { existsSync, readdirSync } from 'node:fs';
import { readProcFile } from './proc-file.ts';
import { run } from './run.ts';

/** A process with the CPU time it has used, as one look at the system saw it. */
export interface ProcessCpu {
  readonly pid: number;
  readonly parent: number;
  /** Its session; where sessions cannot be seen, its process group; where neither exists, its own pid. */
  readonly session: number;
  /** CPU time used by it and by the children it has waited for, in milliseconds. */
  readonly cpuMs: number;
  /** Whether it runs now, waits for a free CPU, or waits for the disk. */
  readonly working: boolean;
}

/** What a process and its descendants have used together. */
export type CpuUse = Pick<ProcessCpu, 'cpuMs' | 'working'>;

export interface CpuMeter {
  /** How often a look is cheap enough, in milliseconds. */
  readonly everyMs: number;
  /** The processes there are; empty where that cannot be seen. */
  readonly look: () => Promise<readonly ProcessCpu[]>;
}

/** The meter of this system. Looks within the same moment share one reading, however many processes are watched. */
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

/** The use of a process and all that came from it; undefined where it cannot be seen. */
export function cpuUseOf(leader: number, all: readonly ProcessCpu[]): CpuUse | undefined {
  const members = new Set(all.filter((entry) => entry.pid === leader || entry.session === leader));
  if (members.size === 0) return undefined;
  // A Set hands out what is added while it is walked: children of children follow by themselves.
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
  if (existsSync('/proc/self/stat')) return { everyMs: 250, look: () => Promise.resolve(readProc()) };
  return { everyMs: 1000, look: async () => parsePsCpu(await output('ps', PS)) };
}

async function output(command: string, args: readonly string[]): Promise<string> {
  const env = { ...process.env, LC_ALL: 'C' };
  return (await run(command, args, { cwd: process.cwd(), env, timeout: 5000, ignoresErrors: true })).stdout;
}

function readProc(): ProcessCpu[] {
  return readdirSync('/proc').flatMap((name) =>
    /^\d+$/.test(name) ? (parseStatCpu(readProcFile(`/proc/${name}/stat`).toString('latin1')) ?? []) : [],
  );
}

/** The kernel tells times in hundredths of a second, whatever its own clock does. */
const TICK_MS = 10;

/** The line of `/proc/PID/stat`; undefined when it is not one. */
export function parseStatCpu(text: string): ProcessCpu | undefined {
  // The second field is the program's own choice of name and may hold spaces and parentheses.
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

const PS = ['-axo', 'pid=,ppid=,pgid=,stat=,time='];

/** Lines of `pid ppid pgid stat [[days-]hours:]minutes:seconds[.hundredths]`. */
export function parsePsCpu(text: string): ProcessCpu[] {
  return text.split('\n').flatMap((line) => {
    const [pid, parent, session, stat = '', time = '', ...more] = line.trim().split(/\s+/);
    if (time === '' || more.length > 0) return [];
    const [days, clock] = time.includes('-') ? time.split('-') : ['0', time];
    const seconds = clock!.split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
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
