import { isObject } from '../../shared/is-object.ts';
import { sha256 } from '../../shared/sha256.ts';
import type { JsonObject } from '../../protocol/index.ts';

/**
 * What was written when a folder was wrapped, to detect later changes. It is the last line of the
 * script: the folder needs no file for it, and it is there exactly as long as the script is.
 */
export interface WrapRecord {
  readonly version: 1;
  readonly server: string;
  /** The definition that was written. */
  readonly config: JsonObject;
  /** The instructions that were written, as a digest. Without them, the folder has its own. */
  readonly instructions?: string;
  /** Whether the folder has instructions of its own, which are kept in `original` meanwhile. Default false. */
  readonly setAside?: boolean;
  /** The script without this record, as a digest. */
  readonly script: string;
}

const MARK = '// wrapped: ';

/** A script with its record. */
export function withRecord(script: string, record: Omit<WrapRecord, 'version' | 'script'>): string {
  const whole: WrapRecord = { version: 1, ...record, script: digest(script) };
  return `${script}${MARK}${ascii(JSON.stringify(whole))}\n`;
}

/** The record of a script, and whether the script was changed since; undefined if it is not ours. */
export function recordIn(text: string): { record: WrapRecord; isChanged: boolean } | undefined {
  const at = text.lastIndexOf(MARK);
  if (at === -1 || (at > 0 && text[at - 1] !== '\n')) return undefined;
  try {
    const line = text.slice(at + MARK.length);
    const record = JSON.parse(line) as Omit<WrapRecord, 'version'> & { readonly version: unknown };
    // Half of a record cannot be parsed; one of a later version we cannot judge.
    if (record.version !== 1 || typeof record.server !== 'string' || !isObject(record.config))
      return undefined;
    return { record: { ...record, version: 1 }, isChanged: digest(text.slice(0, at)) !== record.script };
  } catch {
    return undefined;
  }
}

/** Independent of line endings: git may convert them on checkout. */
export function digest(bytes: string | Buffer): string {
  const text = Buffer.from(bytes as string).toString('latin1');
  return sha256(Buffer.from(text.replaceAll('\r\n', '\n'), 'latin1'));
}

/** JSON in which nothing can end a line of a program: some characters beyond ASCII do. */
export function ascii(json: string): string {
  return json.replace(/[^\x20-\x7e]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
