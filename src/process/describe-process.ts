import { readFileSync, readlinkSync } from 'node:fs';
import { printableLine } from '../shared/printable.ts';
import { askSystem } from './ask-system.ts';
import { hasProc, readProcFile, variableIn } from './proc-file.ts';
import { readStat } from './process-identity.ts';

/** A process, described for people. */
export interface ProcessDescription {
  readonly pid: number;
  /** Its command line on one line, safe to print. */
  readonly command: string;
  /** Undefined if it is not visible, as for processes of other users. */
  readonly cwd: string | undefined;
}

/** Returns undefined if the process does not exist or is a zombie. */
export function describeProcess(pid: number): ProcessDescription | undefined {
  if (!hasProc()) return describeElsewhere(pid);
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
 * The environment the process was started with; undefined if the process has ended or belongs to another user, or the
 * system does not expose environments.
 */
export function environmentOf(pid: number): Readonly<Record<string, string>> | undefined {
  try {
    const pairs = readFileSync(`/proc/${pid}/environ`, 'utf8')
      .split('\0')
      .filter((text) => text.includes('='))
      .map((text): [string, string] => [text.slice(0, text.indexOf('=')), text.slice(text.indexOf('=') + 1)]);
    // If a name occurs twice, the first value counts, as it does in programs.
    return Object.fromEntries(pairs.reverse());
  } catch {
    return undefined;
  }
}

/** A single variable of that environment, which is faster to read; undefined if it is not set. */
export function variableOfProcess(pid: number, name: string): string | undefined {
  return variableIn(readProcFile(`/proc/${pid}/environ`), name);
}

/** Whether the system exposes the environments of our processes, and so their cookies. */
export function showsEnvironments(): boolean {
  return hasProc();
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function describeElsewhere(pid: number): ProcessDescription | undefined {
  const command = askSystem('ps', ['-ww', '-p', String(pid), '-o', 'command=']).trim();
  if (command === '') return undefined;
  const cwd = directoryFromLsof(askSystem('lsof', ['-a', '-p', String(pid), '-d', 'cwd', '-Fn']));
  return { pid, command: printableLine(command), cwd };
}

/** Parses lines of `p<pid>`, `fcwd` and `n<path>`, with non-ASCII bytes written as `\\xc3`. */
export function directoryFromLsof(text: string): string | undefined {
  const name = /^n(.+)$/m.exec(text)?.[1];
  const bytes = name?.replace(/\\x([\da-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  return bytes === undefined ? undefined : Buffer.from(bytes, 'latin1').toString('utf8');
}
