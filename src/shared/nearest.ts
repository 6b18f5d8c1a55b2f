/** The candidates closest to a mistyped word, best first; empty if none are close. */
export function nearest(word: string, candidates: Iterable<string>, limit = 3): string[] {
  if (word.length > LONGEST_WORD) return [];
  const wanted = word.toLowerCase();
  const allowed = mistakesIn(wanted.length);
  const scored: { candidate: string; score: number }[] = [];
  let left = MAX_STEPS;
  for (const candidate of candidates) {
    if (candidate.length > LONGEST_CANDIDATE) continue;
    const known = candidate.toLowerCase();
    // A word that is part of the other is a likely abbreviation, whatever the distance.
    const part = wanted.length >= 3 && (known.includes(wanted) || wanted.includes(known));
    const isComparable = !part && Math.abs(wanted.length - known.length) <= allowed && left > 0;
    if (isComparable) left -= wanted.length * known.length;
    const score =
      known === wanted ? -1 : part ? 0 : isComparable ? distance(wanted, known, allowed) : Infinity;
    if (score <= allowed) scored.push({ candidate, score });
  }
  scored.sort((a, b) => a.score - b.score || (a.candidate < b.candidate ? -1 : 1));
  return scored.slice(0, limit).map((entry) => entry.candidate);
}

/** How many edits may separate two words, so that something of a short word remains. */
function mistakesIn(length: number): number {
  return length < 4 ? Math.floor(length / 2) : Math.max(2, Math.floor(length / 3));
}

/** Nobody mistypes a longer one, and comparing it with many candidates would take time. */
const LONGEST_WORD = 200;
const LONGEST_CANDIDATE = 1000;

/** How many pairs of characters are compared for one word: the candidates are untrusted, and may be thousands. */
const MAX_STEPS = 1_000_000;

/** `Did you mean "x" or "y"?`, or undefined if nothing is close. */
export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
  const quoted = nearest(word, candidates).map((name) => JSON.stringify(name));
  const last = quoted.pop();
  if (last === undefined) return undefined;
  return `Did you mean ${quoted.length > 0 ? `${quoted.join(', ')} or ${last}` : last}?`;
}

/** The number of edits (insert, delete, replace, swap of neighbours) between two words; gives up beyond `limit`. */
function distance(a: string, b: string, limit: number): number {
  if (a.length > LONGEST_WORD || b.length > LONGEST_WORD) return limit + 1;
  const at = (row: readonly number[], place: number): number => row[place] ?? Infinity;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(at(last, j) + 1, at(row, j - 1) + 1, at(last, j - 1) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, at(beforeLast, j - 2) + 1);
      }
      row.push(cost);
    }
    beforeLast = last;
    last = row;
  }
  return at(last, b.length);
}
