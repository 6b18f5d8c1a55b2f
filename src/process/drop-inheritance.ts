import { closeSync, readdirSync } from 'node:fs';
import { hasProc, readProcFile } from './proc-file.ts';

let isDropped = false;

/**
 * Keeps from our children what we inherited from our parent by accident: files that it left open, and an umask that
 * makes files writable for everybody or unusable for their owner. Call this before a child is started.
 */
export function dropInheritance(): void {
  if (isDropped) return;
  isDropped = true;
  closeInherited();
  try {
    // The umask can be read without a warning only by setting it.
    const mask = process.umask(USUAL_UMASK);
    process.umask(isSound(mask) ? mask : (mask & 0o077) | USUAL_UMASK);
  } catch {
    // A worker thread cannot set the umask.
  }
}

const USUAL_UMASK = 0o022;

function isSound(umask: number): boolean {
  return (umask & 0o700) === 0 && (umask & 0o002) !== 0;
}

const CLOSED_ON_EXEC = 0o2000000;

/**
 * Node opens all files so that children do not inherit them, and changes inherited ones accordingly, but only up to the
 * first gap in their numbers (on Linux; elsewhere children inherit only what is meant for them).
 */
function closeInherited(): void {
  for (const name of openDescriptors()) {
    const flags = /^flags:\s*(\d+)$/m.exec(readProcFile(`/proc/self/fdinfo/${name}`))?.[1];
    const isOurs = flags === undefined || (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) !== 0;
    if (Number(name) > 2 && !isOurs) closeSync(Number(name));
  }
}

function openDescriptors(): string[] {
  if (!hasProc()) return [];
  try {
    return readdirSync('/proc/self/fd');
  } catch {
    return [];
  }
}
