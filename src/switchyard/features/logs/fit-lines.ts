import { CUT } from '../../runtime/logs/read-backwards.ts';

/** The last lines that fit into this many bytes, including newlines; if a single line is too long, its beginning. */
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

/** Divides `bytes`: those that need less than an even share leave the rest to the others. */
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
