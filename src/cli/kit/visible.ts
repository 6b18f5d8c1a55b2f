import { printable } from '../../shared/printable.ts';

/** A color code of ours. Of a text that is split by it, every second part is one. */
// eslint-disable-next-line no-control-regex
export const COLOR = /(\x1b\[\d+m)/;

/**
 * A text as it is printed for a person: keeps our own colors, and shows everything else that moves a cursor or is
 * invisible.
 */
export function visible(text: string): string {
  const parts = text.split(COLOR);
  return parts.map((part, at) => (at % 2 === 1 ? part : printable(part))).join('');
}
