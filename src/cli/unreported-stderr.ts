import type { SwitchboardError } from '../shared/errors.ts';

/** What a failed server wrote to stderr, for our stderr, where the error itself does not say all of it. */
export function unreportedStderr(lines: readonly string[], error: SwitchboardError): string | undefined {
  const message = comparable(error.message);
  const told = lines.every((line) => message.includes(comparable(line.slice(line.indexOf('] ') + 2)).trim()));
  return told ? undefined : lines.map((line) => `${line}\n`).join('');
}

/** The error has it on one line, in quotes. */
function comparable(text: string): string {
  return text.replace(/\s+/g, ' ').replaceAll('"', "'");
}
