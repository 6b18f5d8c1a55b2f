import type { CatalogEntry } from '../../gateway/index.ts';
import { printableLine } from '../../shared/printable.ts';
import { estimateTokens } from '../../shared/tokens.ts';
import { knownTools, searchedEntries } from './searched.ts';

/** The limit in tokens by our estimate, which may be slightly too low. */
const MOST_TOKENS = 180;
/** With more servers there would be no room for the counts anyway. */
const MOST_COUNTED = 40;

/** Names the servers whose tools `find_tool` finds, with the numbers of their tools if there is room. */
export function searchInstructions(all: readonly CatalogEntry[]): string {
  const entries = searchedEntries(all);
  if (entries.length === 0) return '';
  const sentence = sentenceFor(entries.every(({ exposure }) => exposure.isScripted === true));
  const names = entries.map(({ source }) => printableLine(source.name).slice(0, 40));
  if (entries.length <= MOST_COUNTED) {
    const counted = entries.map((entry, at) => {
      const count = knownTools(entry)?.tools.length;
      return count === undefined ? (names[at] ?? '') : `${names[at]} (${count})`;
    });
    const text = sentence(counted, 0);
    if (fits(text)) return text;
  }
  if (fits(sentence(names, 0))) return sentence(names, 0);
  let count = 1;
  while (fits(sentence(names.slice(0, count + 1), names.length - count - 1))) count++;
  return sentence(names.slice(0, count), names.length - count);
}

function fits(text: string): boolean {
  return estimateTokens(text) <= MOST_TOKENS;
}

function sentenceFor(areScripted: boolean): (names: readonly string[], more: number) => string {
  const run = areScripted ? 'run_code calls them in a script' : 'call_tool runs them';
  return (names, more) => {
    const rest = more === 0 ? '' : ` and ${more} more`;
    return `find_tool finds the tools of these MCP servers, ${run}: ${names.join(', ')}${rest}.`;
  };
}
