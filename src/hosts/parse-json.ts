import { isTooDeep } from '../shared/depth.ts';
import { EMPTY_TEXT, JsoncError, locateJsonc, type JsoncNode } from '../shared/jsonc.ts';
import { faultAt, TextFault } from './container.ts';
import type { Format } from './host.ts';

/** The value of a JSON text, parsed in the way the host does it; undefined if it has none. Throws TextFault. */
export function parseHostJson(text: string, format: Exclude<Format, 'toml'>): unknown {
  const body = text.replace(/^\ufeff/, '');
  try {
    const value: unknown = JSON.parse(body);
    if (!isTooDeep(value)) return value;
  } catch {
    // Not plain JSON; whether the host accepts it is checked below.
  }
  const comments: number[] = [];
  const root = located(body, (offset) => comments.push(offset));
  // Checked last: if a text has two faults, this is the lesser one.
  const [comment] = comments;
  if (format === 'json' && comment !== undefined)
    throw faultAt(body, comment, 'comments are not allowed in this file');
  const comma = root && trailingComma(root);
  if (format !== 'jsonc' && comma !== undefined)
    throw faultAt(body, comma, 'trailing commas are not allowed in this file');
  return root?.value;
}

function located(body: string, onComment: (offset: number) => void): JsoncNode | undefined {
  try {
    return locateJsonc(body, onComment);
  } catch (error) {
    if (!(error instanceof JsoncError)) throw error;
    if (error.reason === EMPTY_TEXT) return undefined;
    throw new TextFault(error.reason, error.line, error.column);
  }
}

/** The offset of the first trailing comma. */
function trailingComma({ members, items }: JsoncNode): number | undefined {
  const parts = members ?? items ?? [];
  for (const { node } of parts) {
    const inside = trailingComma(node);
    if (inside !== undefined) return inside;
  }
  return parts.at(-1)?.comma;
}
