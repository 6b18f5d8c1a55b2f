import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { printableLine } from '../shared/printable.ts';
import { askSystem } from './ask-system.ts';
import { readStat } from './process-identity.ts';

/** A process, described for people. */
export interface ProcessDescription {
  readonly pid: number;
  /** Its command line on one line, safe to print. */
  readonly command: string;
  /** Undefined where it is not visible, as for processes of other users. */
  readonly cwd: string | undefined;
}

/** Undefined if the process does not exist or is a zombie. */
export function describeProcess(pid: number): ProcessDescription | undefined {
  if (!existsSync('/proc/self/stat')) return describeElsewhere(pid);
  if (readStat(pid)?.alive !== true) return undefined;
  try {
    const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replace(/\0+$/, '').replaceAll('\0', ' ');
    // Kernel threads have only a name.
    const command = line === '' ? `[${readFileSync(`/proc/${pid}/comm`, 'utf8').trim()}]` : line;
    return { pid, command: printableLine(command), cwd: linkOf(`/proc/${pid}/cwd`) };
  } catch {
    return undefined;
  }
}

/**
 * The environment it was started with; undefined if the process is gone or another user's, or the system does not
 * expose it.
 */
export function environmentOf(pid: number): Readonly<Record<string, string>> | undefined {
  try {
    const pairs = readFileSync(`/proc/${pid}/environ`, 'utf8')
      .split('\0')
      .filter((text) => text.includes('='))
      .map((text): [string, string] => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)]);
    // If a name occurs twice, the first one counts, as in programs.
    return Object.fromEntries(pairs.reverse());
  } catch {
    return undefined;
  }
}

/** Whether the system exposes the environment of our processes, and so their cookies. */
export function showsEnvironments(): boolean {
  return existsSync('/proc/self/environ');
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function describeElsewhere(pid: number): ProcessDescription | undefined {
  if (process.platform === 'win32') {
    const line = askSystem('tasklist', ['/FI', `PID eq ${pid}`, '/FO', 'CSV', '/NH']);
    const [, image = '', found] = /^"([^"]+)","(\d+)"/m.exec(line) ?? [];
    return Number(found) === pid ? { pid, command: printableLine(image), cwd: undefined } : undefined;
  }
  const command = askSystem('ps', ['-ww', '-p', String(pid), '-o', 'command=']).trim();
  if (command === '') return undefined;
  const cwd = /^n(.+)$/m.exec(askSystem('lsof', ['-a', '-p', String(pid), '-d', 'cwd', '-Fn']))?.[1];
  return { pid, command: printableLine(command), cwd };
}
