import type { SwitchboardError } from '../shared/errors.ts';

/** What a failed server wrote to stderr, for our stderr, where the error itself does not say all of it. */
export function lastWords(lines: readonly string[], error: SwitchboardError): string | undefined {
  const told = lines.every((line) => error.message.includes(line.slice(line.indexOf('] ') + 2)));
  return told ? undefined : lines.map((line) => `${line}\n`).join('');
}
