import { printable } from '../../shared/printable.ts';

/** A color code of ours. Of a text that is split by it, every second part is one. */
// eslint-disable-next-line no-control-regex
export const COLOR = /(\x1b\[\d+m)/;

/** A text as it is printed for a person: our own colors stay, and what else moves a cursor or cannot be seen is shown. */
export function visible(text: string): string {
  const parts = text.split(COLOR);
  return parts.map((part, at) => (at % 2 === 1 ? part : printable(part))).join('');
}
