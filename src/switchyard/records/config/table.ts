import { isObject } from '../../../shared/is-object.ts';
import { didYouMean, nearest } from '../../../shared/nearest.ts';
import { slug } from '../names.ts';
import type { YardConfigWarning, LoopbackHost } from './definition.ts';
import { asLoopback, LOOPBACK_HOSTS } from './loopback.ts';
import { keyText, quoteValue, type KeyPath, type Report } from './report.ts';

/**
 * One table of the file, read key by key. Each reader returns undefined for a missing key and throws for an invalid
 * value. Keys that remain unread at the end are unknown.
 */
export interface Table {
  readonly path: KeyPath;
  /** A string that is not blank and has no NUL, which commands, paths and variables cannot contain. */
  text(key: string): string | undefined;
  /** From 0 up to `highest`; fractions are allowed. */
  seconds(key: string, highest: number): number | undefined;
  port(key: string): number | undefined;
  host(key: string): LoopbackHost | undefined;
  texts(key: string): readonly string[];
  /** A table of variables; numbers, dates and booleans are converted to strings. */
  variables(key: string): Readonly<Record<string, string>>;
  /** Empty if the table is missing. */
  table(key: string): Table;
  /** Its subtables by name, in the order of the file. */
  tables(): readonly (readonly [string, Table])[];
  /** Asks whether an existing unread key is a misspelling of this one. */
  guess(key: string): string | undefined;
  /** An error about one of its keys. `problem` follows the name of the key. */
  error(key: string, problem: string, hint: string): Error;
  warn(kind: YardConfigWarning['kind'], key: string, message: string): void;
  /** Warns about every unread key. */
  finish(): void;
}

type Values = Readonly<Record<string, unknown>>;

export function openTable(report: Report, values: Values, path: KeyPath = []): Table {
  const read = new Set<string>();

  const get = (key: string): unknown => {
    read.add(key);
    return Object.hasOwn(values, key) ? values[key] : undefined;
  };
  const at = (...keys: string[]): KeyPath => [...path, ...keys];
  const wrong = (key: string, allowed: string, hint: string): Error => {
    const found = report.keys.writtenAt(at(key)) ?? quoteValue(values[key]);
    return report.error(at(key), `${keyText(at(key))} must be ${allowed}, but is ${found}`, hint);
  };
  const tableAt = (key: string): Values => {
    const value = get(key) ?? {};
    if (isTable(value)) return value;
    const name = keyText(at(key));
    throw wrong(key, `a table`, `Write it as [${name}], with one bracket on each side.`);
  };

  const table: Table = {
    path,
    text(key) {
      const value = get(key);
      if (value === undefined) return undefined;
      if (typeof value !== 'string') throw wrong(key, 'a string', 'Put it in quotes.');
      if (value.trim() === '') throw wrong(key, 'a non-empty string', 'Fill it in, or leave the key out.');
      if (value.includes('\0')) throw wrong(key, 'a string without a NUL character', 'Remove it.');
      return value;
    },
    seconds(key, highest) {
      const value = get(key);
      if (value === undefined) return undefined;
      const seconds = typeof value === 'bigint' ? Number(value) : value;
      if (typeof seconds === 'number' && seconds >= 0 && seconds <= highest) return seconds;
      throw wrong(key, `a number of seconds from 0 to ${highest}`, `For example: ${key} = 30.`);
    },
    port(key) {
      const value = get(key);
      if (value === undefined) return undefined;
      if (typeof value === 'bigint' && value >= 1n && value <= 65535n) return Number(value);
      const quoted = typeof value === 'string' && /^\d+$/.test(value);
      const hint = quoted ? 'Write the number without quotes.' : `For example: ${key} = 3000.`;
      throw wrong(key, 'a whole number from 1 to 65535', hint);
    },
    host(key) {
      const value = get(key);
      if (value === undefined) return undefined;
      const host = typeof value === 'string' ? asLoopback(value) : undefined;
      if (host !== undefined) return host;
      const allowed = LOOPBACK_HOSTS.map((each) => JSON.stringify(each)).join(', ');
      throw wrong(
        key,
        `a loopback host (${allowed})`,
        'Switchyard serves this machine only; leave the key out for 127.0.0.1.',
      );
    },
    texts(key) {
      const value = get(key) ?? [];
      const hint = `For example: ${key} = ["one", "two"].`;
      if (!Array.isArray(value)) throw wrong(key, 'a list of strings', hint);
      for (const [index, item] of value.entries()) {
        if (typeof item === 'string') continue;
        const problem = `${keyText(at(key))} must be a list of strings, but has ${quoteValue(item)} in it`;
        throw report.error(at(key, String(index)), problem, hint);
      }
      return value as string[];
    },
    variables(key) {
      const entries = Object.entries(tableAt(key)).map(
        ([name, value]) => [name, variable(report, at(key, name), value)] as const,
      );
      // Not by assignment, because "__proto__" is an ordinary name here.
      return Object.fromEntries(entries);
    },
    table: (key) => openTable(report, tableAt(key), at(key)),
    tables() {
      const names = Object.keys(values);
      // JavaScript puts keys that look like numbers first, but services start in the order of the file.
      if (names.some((name) => /^\d+$/.test(name))) {
        const position = (name: string): number => report.keys.positionOf(at(name)) ?? 0;
        names.sort((a, b) => position(a) - position(b));
      }
      return names.map((name) => [name, table.table(name)] as const);
    },
    guess(key) {
      const unread = Object.keys(values).filter((each) => !read.has(each));
      const [close] = nearest(key, unread, 1);
      return close === undefined ? undefined : `Is ${quoteValue(close)} a misspelling of "${key}"?`;
    },
    error: (key, problem, hint) => report.error(at(key), `${keyText(at(key))} ${problem}`, hint),
    warn: (kind, key, message) => report.warn(kind, at(key), message),
    finish() {
      for (const key of Object.keys(values)) {
        if (read.has(key)) continue;
        const missing = [...read].filter((each) => !Object.hasOwn(values, each));
        const guess = didYouMean(key, missing) ?? `Available: ${[...read].sort().join(', ')}.`;
        report.warn(
          'unknown key',
          at(key),
          `${keyText(at(key))} is not a known key and is ignored. ${guess}`,
        );
      }
    },
  };
  return table;
}

function isTable(value: unknown): value is Values {
  return isObject(value) && !(value instanceof Date);
}

/** Fractions and dates are kept as written: to most programs 3.10 is a version, not 3.1. */
function variable(report: Report, path: KeyPath, value: unknown): string {
  const name = path.at(-1) ?? '';
  if (name === '' || /[=\0]/.test(name)) {
    const problem = `${keyText(path)} is not a valid variable name`;
    throw report.error(path, problem, 'Use letters, digits and underscores.');
  }
  if (typeof value === 'string' && !value.includes('\0')) return value;
  if (typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (typeof value === 'number' || value instanceof Date) {
    return report.keys.writtenAt(path) ?? String(value);
  }
  const found = typeof value === 'string' ? 'has a NUL character' : `is ${quoteValue(value)}`;
  const problem = `${keyText(path)} must be a string, a number or a boolean, but ${found}`;
  throw report.error(path, problem, 'A variable holds one line of text; put it in quotes.');
}

/** The tables below `[services]` or `[profiles]` by slug, in the order of the file. */
export function namedTables(parent: Table, kind: 'service' | 'profile'): ReadonlyMap<string, Table> {
  const tables = new Map<string, Table>();
  const written = new Map<string, string>();
  for (const [name, table] of parent.tables()) {
    const short = slug(name);
    const other = written.get(short);
    if (other !== undefined) {
      throw parent.error(
        name,
        `conflicts with "${other}": ${kind} names collide after slugging, both become "${short}"`,
        'Rename one of them; names may differ only in letters, digits and dashes.',
      );
    }
    written.set(short, name);
    tables.set(short, table);
  }
  return tables;
}
