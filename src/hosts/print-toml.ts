import { isObject } from '../shared/is-object.ts';

/** The lines of `key = value` for a table, without those of the tables in it. */
export function printPairs(table: object): string[] {
  return Object.entries(table)
    .filter(([, value]) => !isObject(value))
    .map(([key, value]) => `${printKey(key)} = ${printValue(value)}`);
}

/** The tables in a table, each as its header and its lines. Their keys are names that others chose, so they are quoted. */
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

/** On one line. */
export function printValue(value: unknown): string {
  if (typeof value === 'string') return printText(value);
  if (Array.isArray(value)) return `[${value.map(printValue).join(', ')}]`;
  if (!isObject(value)) return String(value);
  const members = Object.entries(value).map(([key, member]) => `${printKey(key)} = ${printValue(member)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

function printText(text: string): string {
  // TOML escapes as JSON does, and this one besides.
  return JSON.stringify(text).replaceAll('\u007f', '\\u007F');
}
