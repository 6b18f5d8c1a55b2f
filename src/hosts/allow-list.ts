import type { JsoncItem } from '../shared/jsonc.ts';
import { editJsonc } from '../shared/jsonc-members.ts';
import { nodeAt } from '../shared/jsonc-paths.ts';
import { spliced, type Splice } from '../shared/splice.ts';
import type { Container } from './container.ts';

/**
 * The text with a server added to the host's list of usable servers, if there is one. An empty list allows all servers.
 */
export function allowEntry(text: string, container: Container, name: string): string {
  return editList(text, container, (items, blanksBefore) => {
    const last = items.at(-1);
    if (last === undefined || items.some(({ node }) => node.value === name)) return [];
    const blanks = blanksBefore(last);
    const gap = blanks.includes('\n') || items.length > 1 ? blanks : ' ';
    const at = endOf(last);
    const written = JSON.stringify(name);
    const added = last.comma === undefined ? `,${gap}${written}` : `${gap}${written},`;
    return [{ start: at, end: at, with: added }];
  });
}

/** The text with the server removed from that list. */
export function disallowEntry(text: string, container: Container, name: string): string {
  return editList(text, container, (items) => {
    const at = items.findIndex(({ node }) => node.value === name);
    const [item, before] = [items[at], items[at - 1]];
    if (item === undefined) return [];
    const end = endOf(item);
    if (before === undefined) return [{ start: item.node.start, end, with: '' }];
    return [{ start: item.comma === undefined ? before.node.end : endOf(before), end, with: '' }];
  });
}

/** The end of an item including its comma. */
function endOf({ node, comma }: JsoncItem): number {
  return comma === undefined ? node.end : comma + 1;
}

function editList(
  text: string,
  { format, allowList }: Container,
  edit: (items: readonly JsoncItem[], blanksBefore: (item: JsoncItem) => string) => readonly Splice[],
): string {
  if (allowList === undefined || format === 'toml') return text;
  return editJsonc(text, (located) => {
    const items = nodeAt(located, allowList)?.items ?? [];
    if (items.some(({ node }) => typeof node.value !== 'string')) return located.text;
    const blanksBefore = ({ node }: JsoncItem): string => {
      const before = located.text.slice(0, node.start);
      return before.slice(before.trimEnd().length);
    };
    return spliced(located.text, edit(items, blanksBefore));
  });
}
