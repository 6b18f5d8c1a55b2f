import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { messageOf, SwitchboardError } from '../shared/errors.ts';
import { isObject } from '../shared/is-object.ts';
import { parseJson } from '../shared/parse-json.ts';
import { CHANGE, readPrivateFile } from '../shared/private-file.ts';
import { shellWord } from '../shared/shell-word.ts';
import { inLaterTurn } from '../shared/turns.ts';
import { writeFileAtomic } from '../shared/write-file.ts';

const VERSION = 1;

/** Says whether the content of a file has the form it should have. */
type Form<T> = (value: Record<string, unknown>) => T | undefined;

/** What such a file says; undefined where there is none. Throws where it is damaged, or others could have written it. */
export function readRecord<T>(file: string, form: Form<T>): T | undefined {
  const unusable = (why: string, hint = `Check it, or delete it to start over: rm ${shellWord(file)}`) =>
    new SwitchboardError('TRUST_UNREADABLE', `${file} cannot be used: ${why}.`, { hint });
  const text = readPrivateFile(file, unusable, CHANGE);
  if (text === undefined) return undefined;
  const value = parseJson(text);
  const record = isObject(value) && value.version === VERSION ? form(value) : undefined;
  if (record === undefined) throw unusable('it is damaged, or of another version');
  return record;
}

/** Changes such a file while no other gateway does, into what `change` returns; undefined: nothing is written. */
export async function changeRecord<T>(
  file: string,
  form: Form<T>,
  change: (record: T | undefined) => Promise<object | undefined> | object | undefined,
): Promise<void> {
  // Not before it is needed: a host waits for us to start.
  const { withFileLock } = await import('../shared/file-lock.ts');
  await withFileLock(file, async () => {
    const changed = await change(readRecord(file, form));
    if (changed === undefined) return;
    // Reading and writing a long one is work for two turns.
    await new Promise<void>(inLaterTurn);
    try {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      writeFileAtomic(file, `${JSON.stringify({ version: VERSION, ...changed }, null, 1)}\n`, {
        mode: 0o600,
      });
    } catch (cause) {
      throw new SwitchboardError('STATE_NOT_WRITABLE', `Cannot write ${file}: ${messageOf(cause)}.`, {
        hint: 'Check the free disk space and the permissions, or set SWITCHBOARD_STATE_DIR to another directory.',
        cause,
      });
    }
  });
}
