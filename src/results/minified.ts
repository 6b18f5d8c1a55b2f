import { readObject } from '../wire/index.ts';

/**
 * A JSON text without the white space between its tokens, every token as written. Undefined if the text is not JSON, or
 * so long that it would block everything else.
 */
export function minified(text: string): string | undefined {
  if (text.length > MAX_LENGTH || !isJsonText(text)) return undefined;
  const kept: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      for (at++; text.charCodeAt(at) !== QUOTE; at++) if (text.charCodeAt(at) === BACKSLASH) at++;
    } else if (code <= SPACE) {
      if (from < at) kept.push(text.slice(from, at));
      from = at + 1;
    }
  }
  return from === 0 ? text : kept.join('') + text.slice(from);
}

/** Whether a text is a JSON object or array. */
export function isJsonText(text: string): boolean {
  return /^[ \t\r\n]*[[{]/.test(text) && readObject(`{"value":${text}}`) !== undefined;
}

/** In UTF-16 code units. */
const MAX_LENGTH = 1024 * 1024;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
