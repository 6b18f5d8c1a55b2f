import { isObject } from '../../shared/is-object.ts';
import { sha256 } from '../../shared/sha256.ts';
import type { JsonObject } from '../../protocol/index.ts';

/**
 * What was written when a folder was wrapped, to detect later changes. It is the last line of the script, so the folder
 * needs no additional file, and it exists exactly as long as the script.
 */
export interface WrapRecord {
  readonly version: 1;
  readonly server: string;
  /** The definition that was written. */
  readonly config: JsonObject;
  /** The digest of the instructions that were written. If missing, the folder has its own. */
  readonly instructions?: string;
  /** Whether the folder has its own instructions, which are in `original` while it is wrapped. Default false. */
  readonly setAside?: boolean;
  /** The digest of the script without this record. */
  readonly script: string;
}

const MARK = '// wrapped: ';

/** Adds a record to a script. */
export function withRecord(script: string, record: Omit<WrapRecord, 'version' | 'script'>): string {
  const whole: WrapRecord = { version: 1, ...record, script: digest(script) };
  return `${script}${MARK}${ascii(JSON.stringify(whole))}\n`;
}

/** The record in a script, and whether the script has changed since; undefined if it is not ours. */
export function recordIn(text: string): { record: WrapRecord; isChanged: boolean } | undefined {
  const at = text.lastIndexOf(MARK);
  if (at === -1 || (at > 0 && text[at - 1] !== '\n')) return undefined;
  try {
    const line = text.slice(at + MARK.length);
    const record = JSON.parse(line) as Omit<WrapRecord, 'version'> & { readonly version: unknown };
    // A partial record cannot be parsed; that of a later version cannot be judged.
    if (record.version !== 1 || typeof record.server !== 'string' || !isObject(record.config))
      return undefined;
    return { record: { ...record, version: 1 }, isChanged: digest(text.slice(0, at)) !== record.script };
  } catch {
    return undefined;
  }
}

/** Independent of line endings, which git may convert on checkout. */
export function digest(bytes: string | Buffer): string {
  const text = Buffer.from(bytes as string).toString('latin1');
  return sha256(Buffer.from(text.replaceAll('\r\n', '\n'), 'latin1'));
}

/** JSON without characters beyond ASCII, some of which end a line of JavaScript. */
export function ascii(json: string): string {
  return json.replace(/[^\x20-\x7e]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
