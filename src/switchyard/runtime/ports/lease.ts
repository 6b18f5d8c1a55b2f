import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nodeErrorCode } from '../../../shared/node-error-code.ts';
import { withRegularFile } from '../../../shared/regular-file.ts';
import type { RecordedIdentity } from '../../../process/index.ts';
import { homeNotWritable, type Home } from '../../records/state/home.ts';

/**
 * A claim on a port, stored as a file: from the moment the port is chosen, before anything listens on it, until `down`.
 */
export interface Lease {
  /** The key of the service in the records of its project. */
  readonly key: string;
  /** The project. */
  readonly root: string;
  readonly cookie: string;
  /** The command that took it. It stands for the lease until there is a record. */
  readonly holder: RecordedIdentity;
  /** When it was taken, in milliseconds since the epoch. */
  readonly at: number;
}

/** Returns false if the port is already leased. */
export function takeLease(home: Home, port: number, lease: Lease): boolean {
  try {
    writeFileSync(fileOf(home, port), `${JSON.stringify(lease)}\n`, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (nodeErrorCode(error) === 'EEXIST') return false;
    // The file may exist while its content did not fit on the disk; as a broken lease it can be taken over.
    throw homeNotWritable(fileOf(home, port), error);
  }
}

/** `broken`: the process that took the lease was killed while writing it, so nothing was started on the port. */
export function readLease(home: Home, port: number): Lease | 'broken' | undefined {
  let text: string;
  try {
    text = withRegularFile(fileOf(home, port), ({ read }) => read().toString('utf8'));
  } catch {
    return undefined;
  }
  try {
    const found = JSON.parse(text) as Partial<Lease> | null;
    const { key, root, cookie, holder, at } = found ?? {};
    const whole =
      typeof key === 'string' &&
      typeof root === 'string' &&
      typeof cookie === 'string' &&
      typeof holder?.pid === 'number' &&
      typeof at === 'number';
    return whole ? { key, root, cookie, holder, at } : 'broken';
  } catch {
    return 'broken';
  }
}

/** Releases the port, if the lease is still that of this start. */
export function releaseLease(home: Home, port: number, cookie: string | undefined): void {
  const lease = readLease(home, port);
  if (lease !== undefined && lease !== 'broken' && lease.cookie === cookie) removeLease(home, port);
}

/** Releases the port, no matter which service holds it. */
export function removeLease(home: Home, port: number): void {
  rmSync(fileOf(home, port), { force: true });
}

function fileOf(home: Home, port: number): string {
  return join(home.ports, String(port));
}
