import { plain } from '../shared/printable.ts';

export interface ServerInstructions {
  readonly server: string;
  readonly instructions: string;
}

/**
 * Our own instructions, then each server's under its name, within a budget of characters. The budget is shared: what a
 * server does not need of its share goes to those that need more.
 */
export function combineInstructions(
  own: string,
  servers: readonly ServerInstructions[],
  maxChars: number,
): string {
  const parts = servers
    .map(({ server, instructions }) => ({
      head: `[${server}] `,
      text: indented(plain(instructions.trim())),
    }))
    .filter(({ text }) => text !== '');
  const heads = parts.reduce((sum, { head }) => sum + head.length + 2, 0);
  const shares = share(
    parts.map(({ text }) => text.length),
    maxChars - heads,
  );
  const sections = parts.flatMap(({ head, text }, at) => {
    const room = shares[at] ?? 0;
    if (text.length <= room) return [head + text];
    // A fragment of a few words is useless.
    return room < 40 ? [] : [`${head}${cut(text, room - 1)}…`];
  });
  return [own, ...sections].filter((part) => part !== '').join('\n\n');
}

/** One server's instructions, made printable and cut to this many characters; undefined if nothing is left. */
export function printableInstructions(
  instructions: string | undefined,
  maxChars: number,
): string | undefined {
  const text = plain(instructions?.trim() ?? '');
  if (text === '' || maxChars === 0) return undefined;
  return text.length <= maxChars ? text : `${cut(text, maxChars - 1)}…`;
}

/** Indents the text, so that no line of one server's looks like the start of another's. */
function indented(text: string): string {
  return text.replace(/\r\n|[\n\v\f\r\u0085\u2028\u2029]/g, '\n  ');
}

/** Divides a budget: small requests are met in full, and the rest is split among the others. */
function share(wanted: readonly number[], budget: number): number[] {
  const shares = wanted.map(() => 0);
  const bySize = wanted.map((want, at) => ({ want, at })).sort((a, b) => a.want - b.want);
  let left = Math.max(budget, 0);
  bySize.forEach(({ want, at }, done) => {
    const fair = Math.floor(left / (bySize.length - done));
    shares[at] = Math.min(want, fair);
    left -= shares[at];
  });
  return shares;
}

/** Cuts a text, but never inside a surrogate pair. */
function cut(text: string, length: number): string {
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? length - 1 : length);
}
