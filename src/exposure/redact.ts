/** Longer than this, arguments say nothing more to a reader of a log. */
const MAX_CHARS = 2000;

/** Arguments as they may stand in a log: the named fields left out, wherever they are, and the rest cut to a length. */
export function redacted(args: unknown, fields: ReadonlySet<string>): string {
  const text =
    JSON.stringify(args, (key, value: unknown) => (fields.has(key) ? '[redacted]' : value)) ?? 'undefined';
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text;
}
