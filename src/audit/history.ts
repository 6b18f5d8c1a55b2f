import { closeSync, constants, existsSync, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { isObject } from '../shared/is-object.ts';
import type { AuditRecord } from './audit-record.ts';

/** Which calls to show. Default: all. */
export interface HistoryFilter {
  readonly server?: string | undefined;
  readonly tool?: string | undefined;
  /** The name of the client, of its token, or of its user at an identity provider. */
  readonly client?: string | undefined;
  /** Only those that did not succeed. */
  readonly failed?: boolean;
  /** In milliseconds since 1970. */
  readonly since?: number | undefined;
}

export interface HistoryOptions {
  /** The current file of the audit log. */
  readonly file: string;
  readonly filter: HistoryFilter;
  /** The name of a principal; undefined if it is unknown. */
  readonly principalName: (principal: string) => string | undefined;
}

const BLOCK = 64 * 1024;
/** Longer lines are not ours. In UTF-16 code units. */
const LONGEST_LINE = 1024 * 1024;
/** More files than anybody keeps. */
const MOST_FILES = 1000;

/** Reads the audit log across its files, oldest call first, and then the lines that are added to it. */
export class HistoryReader {
  readonly #options: HistoryOptions;
  #current: OpenLog | undefined;
  /** Lines that are not records: truncated by a full disk, or not ours. */
  unreadable = 0;

  constructor(options: HistoryOptions) {
    this.#options = options;
  }

  /** All records that match the filter. */
  *all(): Generator<AuditRecord> {
    const { file } = this.#options;
    let oldest = 0;
    while (oldest < MOST_FILES && existsSync(`${file}.${oldest + 1}`)) oldest++;
    // All files are opened before the first is read, so that a file renamed meanwhile is neither missed nor read twice.
    const logs = Array.from({ length: oldest + 1 }, (_, at) =>
      openLog(at === oldest ? file : `${file}.${oldest - at}`),
    );
    const seen = new Set<number>();
    for (const log of logs) {
      if (log === undefined) continue;
      if (seen.has(log.ino)) log.close();
      else {
        seen.add(log.ino);
        yield* this.#matching(log);
        if (log === logs.at(-1)) this.#current = log;
        else log.close();
      }
    }
  }

  /** The records added since the last call. */
  *more(): Generator<AuditRecord> {
    const { file } = this.#options;
    if (this.#current !== undefined) yield* this.#matching(this.#current);
    const now = openLog(file);
    if (now === undefined || now.ino === this.#current?.ino) {
      now?.close();
      return;
    }
    // Lines that were added to the old file before the new one was started.
    if (this.#current !== undefined) yield* this.#matching(this.#current);
    this.#current?.close();
    this.#current = now;
    yield* this.#matching(now);
  }

  close(): void {
    this.#current?.close();
    this.#current = undefined;
  }

  *#matching(log: OpenLog): Generator<AuditRecord> {
    for (const line of log.lines()) {
      if (line === '') continue;
      const record = parse(line);
      if (record === undefined) this.unreadable++;
      else if (this.#isMeant(record)) yield record;
    }
  }

  #isMeant(record: AuditRecord): boolean {
    const { filter, principalName } = this.#options;
    const { server, tool, client, failed = false, since } = filter;
    if (since !== undefined && !(Date.parse(record.time) >= since)) return false;
    // Any call may be among the missing ones.
    if (record.dropped !== undefined) return true;
    if (server !== undefined && record.server !== server) return false;
    if (tool !== undefined && record.tool !== tool) return false;
    if (failed && record.outcome === 'ok') return false;
    if (client === undefined || record.client === client) return true;
    const { principal } = record;
    return (
      principal !== undefined && [principal, principalName(principal), userIn(principal)].includes(client)
    );
  }
}

/** The user in a principal of an identity provider, such as `https://id.example.com alice`. */
function userIn(principal: string): string | undefined {
  const [, user] = principal.split(' ');
  try {
    return user && decodeURIComponent(user);
  } catch {
    // A long principal may have been cut inside an escape.
    return undefined;
  }
}

interface OpenLog {
  readonly ino: number;
  /** The complete lines that have not been read yet. */
  lines(): Generator<string>;
  close(): void;
}

/** Undefined if it does not exist or is not a file. */
function openLog(file: string): OpenLog | undefined {
  let descriptor: number;
  let stats: Stats;
  try {
    descriptor = openSync(file, constants.O_RDONLY | ((constants.O_NONBLOCK as number | undefined) ?? 0));
    stats = fstatSync(descriptor);
  } catch {
    return undefined;
  }
  if (!stats.isFile()) {
    closeSync(descriptor);
    return undefined;
  }
  const block = Buffer.allocUnsafe(BLOCK);
  const decoder = new StringDecoder('utf8');
  let position = 0;
  let rest = '';
  return {
    ino: stats.ino,
    *lines() {
      for (let got; (got = readSync(descriptor, block, 0, BLOCK, position)) > 0;) {
        position += got;
        const parts = (rest + decoder.write(block.subarray(0, got))).split('\n');
        rest = parts.pop() ?? '';
        if (rest.length > LONGEST_LINE) rest = rest.slice(0, LONGEST_LINE);
        yield* parts;
      }
    },
    close: () => closeSync(descriptor),
  };
}

function parse(line: string): AuditRecord | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) && typeof value.time === 'string' ? (value as unknown as AuditRecord) : undefined;
  } catch {
    return undefined;
  }
}
