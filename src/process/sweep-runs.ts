import { once } from 'node:events';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf } from '../shared/errors.ts';
import { isObject } from '../shared/is-object.ts';
import type { Logger } from '../shared/log.ts';
import { CHANGE, directoryProblem, fileProblem } from '../shared/private-file.ts';
import { withRegularFile, type OpenFile } from '../shared/regular-file.ts';
import { removeOldDrafts } from '../shared/write-file.ts';
import { DEFAULT_SHELL, spawnReaper } from './reaper.ts';
import { isProcessAlive, processStatus } from './recorded-identity.ts';
import { isBeforeReuse, type RunRecord } from './run-record.ts';

export interface SweepOptions {
  /** The directory where runs are recorded. */
  readonly directory: string;
  /** The environment of the reaper. */
  readonly env: Readonly<Record<string, string>>;
  readonly log: Logger;
}

/** A record of another machine, boot or container is left alone for this long, in milliseconds. */
const FOREIGN_AGE = 7 * 24 * 3600 * 1000;

/** Ends what earlier runs have left. Their own reaper has usually done that, unless it was killed too. */
export async function sweepRuns({ directory, env, log }: SweepOptions): Promise<void> {
  for (const file of recordsIn(directory)) {
    const record = readRecord(file, log);
    if (record === undefined) continue;
    const status = processStatus(record.owner);
    if (status === 'alive' || (status === 'unknown' && !isOld(file))) continue;
    if (status === 'gone') {
      log.debug('ending what a killed gateway may have left', { pid: record.owner.pid });
      const reaper = spawnReaper(DEFAULT_SHELL, env);
      reaper.stdin?.end(commands(record).join(''));
      await once(reaper, 'exit');
    }
    rmSync(file, { force: true });
  }
}

/** The commands for the roots whose session is proven to be theirs. Everything else is proven by the cookie. */
function commands({ cookieName, cgroups, roots }: RunRecord): string[] {
  const proven = roots.filter((root) => isProcessAlive(root) || isBeforeReuse(root));
  return [
    `cookie ${cookieName}=\n`,
    ...(cgroups === null ? [] : [`cgroups ${cgroups}\n`]),
    ...proven.map(({ pid, startTime }) => `enlist ${pid} ${startTime}\n`),
  ];
}

function recordsIn(directory: string): string[] {
  try {
    removeOldDrafts(directory);
    const names = readdirSync(directory).filter((name) => /^SWITCHBOARD_RUN_[0-9a-f]{16}\.json$/.test(name));
    return names.map((name) => join(directory, name));
  } catch {
    // Nothing has ever been recorded.
    return [];
  }
}

/** Undefined if none of our runs wrote the file: somebody else may want one of our processes to end. */
function readRecord(file: string, log: Logger): RunRecord | undefined {
  try {
    const value: unknown = JSON.parse(withRegularFile(file, (opened) => textOf(file, opened)));
    return isRecord(value) && file.endsWith(`${value.cookieName}.json`) ? value : undefined;
  } catch (error) {
    log.debug('the record of a run is not used', { file, reason: messageOf(error) });
    return undefined;
  }
}

function textOf(file: string, opened: OpenFile): string {
  const why = directoryProblem(dirname(file)) ?? fileProblem(file, opened, CHANGE);
  if (why !== undefined) throw new Error(why);
  return opened.read().toString('utf8');
}

function isRecord(value: unknown): value is RunRecord {
  if (!isObject(value) || typeof value.cookieName !== 'string' || !Array.isArray(value.roots)) return false;
  const { owner, cgroups, roots } = value;
  if (cgroups !== null && !(typeof cgroups === 'string' && /^\/[^\n]*$/.test(cgroups))) return false;
  return isIdentity(owner) && typeof owner.place === 'string' && roots.every(isIdentity);
}

function isIdentity(value: unknown): value is Record<string, unknown> {
  if (!isObject(value)) return false;
  return [value.pid, value.startTime].every(Number.isSafeInteger) && Number(value.pid) > 1;
}

function isOld(file: string): boolean {
  const written = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
  return Date.now() - written > FOREIGN_AGE;
}
