import { isObject } from '../shared/is-object.ts';
import type { Format } from './host.ts';

/** The location of the servers in a text. */
export interface Container {
  readonly format: Format;
  /** The keys that lead to it. */
  readonly keyPath: readonly string[];
  /** The keys of a list that, if present, must name a server for it to be used. Default: no such list. */
  readonly allowList?: readonly string[] | undefined;
}

/** Where and why the host could not read a text. */
export class TextFault extends Error {
  readonly reason: string;
  /** Line and column count from 1. */
  readonly line: number;
  readonly column: number;

  constructor(reason: string, line: number, column: number) {
    super(`line ${line}, column ${column}: ${reason}`);
    this.reason = reason;
    this.line = line;
    this.column = column;
  }
}

/** An edit that would not have the intended effect, so it is not made. */
export class UnsafeEdit extends Error {}

/** A fault of which only the offset is known. */
export function faultAt(text: string, offset: number, reason: string): TextFault {
  const before = text.slice(0, offset);
  return new TextFault(reason, before.split('\n').length, offset - before.lastIndexOf('\n'));
}

/** The value at these keys in a parsed text; undefined if there is none. */
export function valueAt(document: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    document,
  );
}
