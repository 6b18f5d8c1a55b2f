import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf, SwitchboardError } from '../shared/errors.ts';
import { isObject } from '../shared/is-object.ts';
import { parseJson } from '../shared/parse-json.ts';
import { CHANGE, readPrivateFile } from '../shared/private-file.ts';
import { shellWord } from '../shared/shell-word.ts';
import { inLaterTurn } from '../shared/turns.ts';
import { writeFileAtomic } from '../shared/write-file.ts';

const VERSION = 1;

/** Returns the content of a record, or undefined if it does not have the right form. */
export type Form<T> = (value: Record<string, unknown>) => T | undefined;

/** Returns the new content of a record; undefined leaves it unchanged. */
export type Change<T> = (record: T | undefined) => Promise<object | undefined> | object | undefined;

/** Reads such a file; undefined if there is none. Throws if it is damaged or others could have written it. */
export function readRecord<T>(file: string, form: Form<T>): T | undefined {
  const text = readRecordText(file);
  if (text === undefined) return undefined;
  const record = trustRecordIn(text, form);
  if (record === undefined) throw unusable(file)('it is damaged, or of another version');
  return record;
}

/** Reads such a file as text, without checking its form. */
export function readRecordText(file: string): string | undefined {
  return readPrivateFile(file, unusable(file), CHANGE);
}

export function trustRecordIn<T>(text: string, form: Form<T>): T | undefined {
  const value = parseJson(text);
  return isObject(value) && value.version === VERSION ? form(value) : undefined;
}

/** Changes such a file while no other gateway does. */
export async function changeRecord<T>(file: string, form: Form<T>, change: Change<T>): Promise<void> {
  // Loaded on demand: a host waits for us to start.
  const { withFileLock } = await import('../shared/file-lock.ts');
  await withFileLock(file, async () => {
    const changed = await change(readRecord(file, form));
    if (changed === undefined) return;
    // Reading and writing a long file should not happen in one turn of the event loop.
    await new Promise<void>(inLaterTurn);
    writeRecordText(file, recordText(changed));
  });
}

export function recordText(record: object): string {
  return `${JSON.stringify({ version: VERSION, ...record }, null, 1)}\n`;
}

export function writeRecordText(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileAtomic(file, text, { mode: 0o600 });
  } catch (cause) {
    throw new SwitchboardError('STATE_NOT_WRITABLE', `Cannot write ${file}: ${messageOf(cause)}.`, {
      hint: 'Check the free disk space and the permissions, or set SWITCHBOARD_STATE_DIR to another directory.',
      cause,
    });
  }
}

/** Changes whenever the file does; empty if there is none. */
export function fileRevision(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.ino} ${found.size} ${found.mtimeMs}`;
}

function unusable(file: string) {
  return (
    why: string,
    hint = `Check it, or delete it to start over: rm ${shellWord(file)}`,
  ): SwitchboardError =>
    new SwitchboardError('TRUST_UNREADABLE', `${file} cannot be used: ${why}.`, { hint });
}
