/**
 * A log line as a terminal would show it, as plain text: colors, cursor movements, titles and links are removed, even
 * if truncated, and of overwritten text only the last version remains.
 */
export function stripAnsi(line: string): string {
  if (!CONTROL.test(line)) return line;
  const text = line.replace(SEQUENCES, '');
  // A progress bar returns to the start of its line and rewrites it.
  const painted = text.split('\r').findLast((part) => part !== '') ?? '';
  return painted.replace(CONTROLS, '');
}

/** C0 except the tab, DEL, and C1, which some terminals treat like the equivalent escape sequences. */
// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/;
const CONTROLS = new RegExp(CONTROL, 'g');

/** Every part after the first character is optional, because a sequence may be truncated. */
const SEQUENCES = new RegExp(
  [
    // A control sequence: parameters, intermediates, the final character.
    '(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]?',
    // A string (title, link, device control): ends with BEL or ST. An escape of another kind ends it too.
    '(?:\\u001b[\\]PX^_]|[\\u0090\\u0098\\u009d-\\u009f])[^\\u0007\\u001b\\u009c]*(?:\\u0007|\\u001b\\\\|\\u009c)?',
    // All other escape sequences.
    '\\u001b[ -/]*[0-~]?',
  ].join('|'),
  'g',
);
