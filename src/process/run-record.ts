import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomic } from '../shared/write-file.ts';
import { readProcFile } from './proc-file.ts';
import type { ProcessIdentity } from './process-identity.ts';
import { ownIdentity, type RecordedIdentity } from './recorded-identity.ts';

/** What one of our runs started, so that the next run can end it if neither we nor our reaper could. */
export interface RunRecord {
  /** Our own identity. */
  readonly owner: RecordedIdentity;
  /** The name of the environment variable with the run's cookies. */
  readonly cookieName: string;
  /** The directory of the cgroups that have the cookie in their name; null if there are none. */
  readonly cgroups: string | null;
  /** The first process of each session. */
  readonly roots: readonly RecordedRoot[];
}

export interface RecordedRoot extends ProcessIdentity {
  /**
   * How many processes the system had started since its boot when this one was recorded; null if the system does not
   * report it.
   */
  readonly ordinal: number | null;
}

/** Writes the record of this run. Best effort: a failure must not keep a server from starting. */
export interface RunRecorder {
  write(roots: Iterable<RecordedRoot>, cgroups: string | undefined): void;
  /** Nothing is left to end. */
  remove(): void;
}

export function createRunRecorder(directory: string, cookieName: string): RunRecorder {
  const file = join(directory, `${cookieName}.json`);
  return {
    write(roots, cgroups) {
      try {
        mkdirSync(directory, { recursive: true, mode: 0o700 });
        const record: RunRecord = {
          owner: ownIdentity(),
          cookieName,
          cgroups: cgroups ?? null,
          roots: [...roots],
        };
        writeFileAtomic(file, JSON.stringify(record), { flush: 'nothing' });
      } catch {
        // The reaper works without the record.
      }
    },
    remove() {
      try {
        rmSync(file, { force: true });
      } catch {
        // The next run finds that we have ended and left nothing.
      }
    },
  };
}

export function withOrdinal({ pid, startTime }: ProcessIdentity): RecordedRoot {
  return { pid, startTime, ordinal: startedSinceBoot() };
}

/**
 * Whether no pid that was in use at that time can have been reused since. Pids are assigned in ascending order, so one
 * comes back only after all others were used. The limit is half of them, because some are used without being counted.
 */
export function isBeforeReuse({ ordinal }: RecordedRoot): boolean {
  const now = startedSinceBoot();
  const highest = Number(readProcFile('/proc/sys/kernel/pid_max'));
  return ordinal !== null && now !== null && now > ordinal && now - ordinal < highest / 2;
}

function startedSinceBoot(): number | null {
  const line = /^processes (\d+)$/m.exec(readProcFile('/proc/stat'));
  return line === null ? null : Number(line[1]);
}
