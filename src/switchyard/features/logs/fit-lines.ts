import { CUT } from '../../runtime/logs/read-backwards.ts';

/** The last lines that fit into this many bytes, including newlines; if a single line is too long, its beginning. */
export function lastThatFit(lines: readonly string[], bytes: number): readonly string[] {
  let left = bytes;
  const tooMuch = lines.findLastIndex((line) => (left -= sizeOf(line)) < 0);
  const kept = lines.slice(tooMuch + 1);
  const last = lines.at(-1);
  return kept.length > 0 || last === undefined ? kept : [beginningOf(last, bytes)];
}

/** Divides `bytes`: those that need less than an even share leave the rest to the others. */
export function shareOut(needs: readonly number[], bytes: number): readonly number[] {
  const shares = [...needs];
  let left = bytes;
  const smallestFirst = [...needs.entries()].sort(([, a], [, b]) => a - b);
  for (const [place, [index, need]] of smallestFirst.entries()) {
    const share = Math.min(need, Math.floor(left / (needs.length - place)));
    shares[index] = share;
    left -= share;
  }
  return shares;
}

/** The size of a printed line, in bytes. */
export function sizeOf(line: string): number {
  return Buffer.byteLength(line) + 1;
}

function beginningOf(line: string, bytes: number): string {
  const room = bytes - sizeOf(CUT);
  if (room <= 0) return CUT;
  const kept = Buffer.from(line).subarray(0, room);
  // Omits a partial character at the end.
  return new TextDecoder().decode(kept, { stream: true }) + CUT;
}
