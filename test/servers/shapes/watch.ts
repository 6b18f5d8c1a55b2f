import { readdirSync, readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** Every shape that can be ended without exception, with the roles that speak up on the way. */
export const SHAPES = [
  'plain',
  'sh-wrapper',
  'npm-like',
  'leader-exits',
  'job-control',
  'setsid',
  'setsid-orphan',
  'double-fork',
  'ignores-term',
] as const;

export const shapeProgram = fileURLToPath(new URL('shape.mjs', import.meta.url));

/** Arguments for `node` to run a shape. */
export function shapeArgs(shape: string, ...command: readonly string[]): string[] {
  return [shapeProgram, shape, ...(command.length > 0 ? ['--', ...command] : [])];
}

export interface Ready {
  readonly role: string;
  readonly pid: number;
}

/** Resolves when the innermost process of a shape is ready, with all who spoke up until then. */
export function readyShape(stderr: Readable): Promise<Ready[]> {
  return new Promise((resolve, reject) => {
    let text = '';
    stderr.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const ready = [...text.matchAll(/^ready (\S+) (\d+)\n/gm)].map(([, role, pid]) => ({
        role: role!,
        pid: Number(pid),
      }));
      if (ready.some(({ role }) => role === 'leaf')) resolve(ready);
    });
    stderr.once('close', () => reject(new Error(`the shape ended before it was ready: ${text}`)));
  });
}

/** Is there such a process, and no zombie? Reads /proc on its own: the code under test must not judge itself. */
export function isAlive(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

/** Pids of the living whose environment holds this text. */
export function carriersOf(mark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && isAlive(pid) && environmentOf(pid).includes(mark));
}

export function environmentOf(pid: number): string {
  return procFile(`${pid}/environ`);
}

/** Empty when the process is gone. */
function procFile(name: string): string {
  try {
    return readFileSync(`/proc/${name}`, 'latin1');
  } catch {
    return '';
  }
}

/** The reapers of a gateway, found by what they run. */
export function reapersOf(gateway: number): number[] {
  return procFile(`${gateway}/task/${gateway}/children`)
    .split(' ')
    .filter((pid) => pid !== '')
    .map(Number)
    .filter((pid) => procFile(`${pid}/cmdline`).includes('# switchboard reaper'));
}

/** Waits until the condition holds; false when it did not within the time, in milliseconds. */
export async function holdsWithin(time: number, condition: () => boolean): Promise<boolean> {
  const end = performance.now() + time;
  while (!condition()) {
    if (performance.now() > end) return false;
    await sleep(20);
  }
  return true;
}
