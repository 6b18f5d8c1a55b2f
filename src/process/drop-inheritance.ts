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
/** Up to this number, Node keeps every inherited file from children; after it, only those before the first gap. */
const HANDLED_BY_NODE = 15;

/**
 * Closes inherited files that Node would pass on to children (on Linux; elsewhere children inherit only what is meant for
 * them). It opens its own files so that children do not inherit them.
 */
function closeInherited(): void {
  for (const descriptor of openDescriptors()) {
    if (descriptor <= HANDLED_BY_NODE) continue;
    const flags = /^flags:\s*(\d+)$/m.exec(readProcFile(`/proc/self/fdinfo/${descriptor}`))?.[1];
    const isOurs = flags === undefined || (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) !== 0;
    if (!isOurs) closeSync(descriptor);
  }
}

function openDescriptors(): number[] {
  if (!hasProc()) return [];
  try {
    return readdirSync('/proc/self/fd').map(Number);
  } catch {
    return [];
  }
}
