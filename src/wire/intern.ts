const KNOWN: (string | undefined)[] = new Array<string | undefined>(256).fill(undefined);
const LONGEST = 64;

/**
 * The text of bytes, without making a new string when the same text came by a moment ago: methods, tool names and the
 * like are few and come with every call. Undefined for what is long or not plain ASCII.
 */
export function internAscii(bytes: Uint8Array, start: number, end: number): string | undefined {
  const length = end - start;
  if (length === 0 || length > LONGEST) return undefined;
  const place = (length * 31 + bytes[start]! * 7 + bytes[end - 1]! + bytes[start + (length >> 1)]! * 3) & 255;
  const known = KNOWN[place];
  if (known?.length === length) {
    let offset = 0;
    while (offset < length && known.charCodeAt(offset) === bytes[start + offset]) offset++;
    if (offset === length) return known;
  }
  for (let at = start; at < end; at++) if (bytes[at]! >= 0x80) return undefined;
  const text = String.fromCharCode(...bytes.subarray(start, end));
  KNOWN[place] = text;
  return text;
}
