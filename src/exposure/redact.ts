/** Arguments longer than this tell the reader of a log nothing more. */
const MAX_CHARS = 2000;

/** Arguments for the log: without the named fields at any depth, and cut to a maximum length. */
export function redacted(args: unknown, fields: ReadonlySet<string>): string {
  if (args === undefined) return 'none';
  const text = JSON.stringify(args, (key, value: unknown) => {
    if (fields.has(key)) return '[redacted]';
    // Models may write the arguments of a subtool as JSON inside a string.
    return key === 'args' && typeof value === 'string' ? parsed(value) : value;
  });
  return text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return `[${text.length} characters]`;
  }
}
