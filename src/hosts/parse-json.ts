import { JsoncError, parseJsonc } from '../shared/jsonc.ts';
import { faultAt, TextFault } from './container.ts';
import type { Format } from './host.ts';

/** The value of a JSON text, as the host reads it; undefined for a text without one. Throws TextFault. */
export function parseHostJson(text: string, format: Exclude<Format, 'toml'>): unknown {
  const body = text.replace(/^\ufeff/, '');
  try {
    return JSON.parse(body);
  } catch {
    // Not plain: whether that is right is seen below.
  }
  const { hasValue, comment, trailingComma } = lookOver(body);
  const value = hasValue ? parsed(body) : undefined;
  // Only now: where a text is wrong in two ways, this is the lesser one.
  if (format === 'json' && comment !== undefined)
    throw faultAt(body, comment, 'comments are not allowed in this file');
  if (format !== 'jsonc' && trailingComma !== undefined)
    throw faultAt(body, trailingComma, 'trailing commas are not allowed in this file');
  return value;
}

function parsed(body: string): unknown {
  try {
    return parseJsonc(body);
  } catch (error) {
    if (error instanceof JsoncError) throw new TextFault(error.reason, error.line, error.column);
    throw error;
  }
}

interface Overview {
  readonly hasValue: boolean;
  /** Offsets of the first comment, and of the first comma behind a last item. */
  readonly comment: number | undefined;
  readonly trailingComma: number | undefined;
}

/** A string (closed or not), a comment, a blank or one other character. */
const TOKEN = /"(?:[^"\\\n]|\\.)*"?|\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)|\s+|[^]/g;

function lookOver(body: string): Overview {
  let comma: number | undefined;
  let hasValue = false;
  let comment: number | undefined;
  let trailingComma: number | undefined;
  for (const { 0: token, index } of body.matchAll(TOKEN)) {
    if (token.trim() === '') continue;
    // One that is never closed is for the parser to complain of.
    if (/^\/(?:\/|\*[^]*\*\/$)/.test(token)) {
      comment ??= index;
      continue;
    }
    hasValue = true;
    if (comma !== undefined && /^[\]}]$/.test(token)) trailingComma ??= comma;
    comma = token === ',' ? index : undefined;
  }
  return { hasValue, comment, trailingComma };
}
