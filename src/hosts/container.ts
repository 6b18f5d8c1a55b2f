import { isObject } from '../shared/is-object.ts';
import type { Format } from './host.ts';

/** Where in a text the servers are. */
export interface Container {
  readonly format: Format;
  /** The keys that lead there. */
  readonly keyPath: readonly string[];
  /** The keys of a list that, where it is there, must name a server for it to be used. Default: there is none. */
  readonly allowList?: readonly string[] | undefined;
}

/** Where and why a text is not what the host could read. */
export class TextFault extends Error {
  readonly reason: string;
  /** Both counted from 1. */
  readonly line: number;
  readonly column: number;

  constructor(reason: string, line: number, column: number) {
    super(`line ${line}, column ${column}: ${reason}`);
    this.reason = reason;
    this.line = line;
    this.column = column;
  }
}

/** An edit that would not have done what was meant, and so is not done. */
export class UnsafeEdit extends Error {}

/** A fault, where only the offset is known. */
export function faultAt(text: string, offset: number, reason: string): TextFault {
  const before = text.slice(0, offset);
  return new TextFault(reason, before.split('\n').length, offset - before.lastIndexOf('\n'));
}

/** What keys lead to in a parsed text; undefined where they lead nowhere. */
export function valueAt(document: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined),
    document,
  );
}
