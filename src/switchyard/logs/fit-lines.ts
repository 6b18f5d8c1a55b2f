import { CUT } from './read-backwards.ts';

/** The last lines that fit into this many bytes, newlines counted; of one that is too long alone, its beginning. */
export function lastThatFit(lines: readonly string[], bytes: number): readonly string[] {
  let first = lines.length;
  let left = bytes;
  while (first > 0) {
    left -= sizeOf(lines[first - 1]!);
    if (left < 0) break;
    first -= 1;
  }
  if (first < lines.length || lines.length === 0) return lines.slice(first);
  return [beginningOf(lines.at(-1)!, bytes)];
}

/** How much each may have when all together may have `bytes`: who needs less than an even share leaves it to others. */
export function shareOut(needs: readonly number[], bytes: number): readonly number[] {
  const shares = [...needs];
  let left = bytes;
  const smallestFirst = needs.map((_, index) => index).sort((a, b) => needs[a]! - needs[b]!);
  smallestFirst.forEach((index, place) => {
    const even = Math.floor(left / (needs.length - place));
    shares[index] = Math.min(needs[index]!, even);
    left -= shares[index];
  });
  return shares;
}

/** What a line takes when it is printed, in bytes. */
export function sizeOf(line: string): number {
  return Buffer.byteLength(line) + 1;
}

function beginningOf(line: string, bytes: number): string {
  const room = bytes - sizeOf(CUT);
  if (room <= 0) return CUT;
  const kept = Buffer.from(line).subarray(0, room);
  // Half a character at the end is left out.
  return new TextDecoder().decode(kept, { stream: true }) + CUT;
}
