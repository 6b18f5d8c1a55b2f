import { isObject } from '../shared/is-object.ts';

/** The `key = value` lines of a table, without those of its subtables. */
export function printPairs(table: object): string[] {
  return Object.entries(table)
    .filter(([, value]) => !isObject(value))
    .map(([key, value]) => `${printKey(key)} = ${printValue(value)}`);
}

/** The subtables of a table, each as its header and its lines. Their keys are arbitrary names, so they are quoted. */
export function printTables(path: readonly string[], table: object): string[][] {
  return Object.entries(table).flatMap(([key, value]) => {
    if (!isObject(value)) return [];
    const lines = Object.entries(value).map(([name, member]) => `${printText(name)} = ${printValue(member)}`);
    return [[printHeader([...path, key]), ...lines]];
  });
}

export function printHeader(path: readonly string[]): string {
  return `[${path.map(printKey).join('.')}]`;
}

export function printKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : printText(key);
}

/** A value on one line. */
export function printValue(value: unknown): string {
  if (typeof value === 'string') return printText(value);
  if (Array.isArray(value)) return `[${value.map(printValue).join(', ')}]`;
  if (!isObject(value)) return String(value);
  const members = Object.entries(value).map(([key, member]) => `${printKey(key)} = ${printValue(member)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

function printText(text: string): string {
  // TOML has the same escapes as JSON, plus this one.
  return JSON.stringify(text).replaceAll('\u007f', '\\u007F');
}
