import { basename } from 'node:path';
import { SwitchboardError } from '../../../shared/errors.ts';
import { printableLine } from '../../../shared/printable.ts';
import type { YardConfigWarning } from './definition.ts';
import { locateKeys, type KeyLocations } from './locate-keys.ts';

export type KeyPath = readonly string[];

/** Reports what is wrong in a file, and where. Locates keys only on demand, because most files have no errors. */
export interface Report {
  readonly warnings: readonly YardConfigWarning[];
  readonly keys: KeyLocations;
  /** `FILE:LINE: problem`, to be thrown. The hint is a sentence. */
  error(path: KeyPath, problem: string, hint: string): SwitchboardError;
  /** The message is a sentence. */
  warn(kind: YardConfigWarning['kind'], path: KeyPath, message: string): void;
}

export function createReport(file: string, text: string): Report {
  const warnings: YardConfigWarning[] = [];
  let located: KeyLocations | undefined;
  const keys = (): KeyLocations => (located ??= locateKeys(text));
  return {
    warnings,
    get keys() {
      return keys();
    },
    error: (path, problem, hint) => configError(file, problem, { line: keys().lineOf(path), hint }),
    warn(kind, path, message) {
      warnings.push({ kind, key: keyText(path), line: keys().lineOf(path), message });
    },
  };
}

/** The common form of errors about a file. Only the hint has the full path, to keep the message short. */
export function configError(
  file: string,
  problem: string,
  details: { readonly line?: number; readonly hint: string; readonly cause?: unknown },
): SwitchboardError {
  const location = details.line === undefined ? basename(file) : `${basename(file)}:${details.line}`;
  return new SwitchboardError('YARD_CONFIG', `${location}: ${problem}.`, {
    hint: `${details.hint} The file is ${printableLine(file)}.`,
    cause: details.cause,
  });
}

/** `services.web.port`, with quotes where TOML needs them. */
export function keyText(path: KeyPath): string {
  return path.map((part) => (/^[\w-]+$/.test(part) ? part : quoteValue(part))).join('.');
}

/** Formats a value for a message: strings quoted and shortened, lists and tables only by their type. */
export function quoteValue(value: unknown): string {
  if (typeof value === 'string') {
    const text = value.length > LONGEST_SHOWN ? `${value.slice(0, LONGEST_SHOWN)}…` : value;
    return `"${printableLine(text).replaceAll('"', '\\"')}"`;
  }
  if (typeof value === 'bigint' || typeof value === 'number' || typeof value === 'boolean')
    return String(value);
  if (value instanceof Date) return 'a date';
  return Array.isArray(value) ? 'a list' : 'a table';
}

const LONGEST_SHOWN = 60;
