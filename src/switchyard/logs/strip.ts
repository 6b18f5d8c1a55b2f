/**
 * One line of a log as a terminal would have shown it, without its means: colours, cursor movements, titles and links
 * are taken out, also those that were cut off in the middle, and of text that was painted over only the last stays.
 */
export function stripAnsi(line: string): string {
  if (!CONTROL.test(line)) return line;
  const text = line.replace(SEQUENCES, '');
  // A progress bar returns to the start of its line and rewrites it.
  const painted = text.split('\r').findLast((part) => part !== '') ?? '';
  return painted.replace(CONTROLS, '');
}

/** All of C0 but the tab, DEL, and C1, which some terminals obey like the escape sequences they stand for. */
// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/;
const CONTROLS = new RegExp(CONTROL, 'g');

/** Every part behind the first character may be missing: then the sequence was cut. */
const SEQUENCES = new RegExp(
  [
    // A control sequence: parameters, intermediates, the final character.
    '(?:\\u001b\\[|\\u009b)[0-?]*[ -/]*[@-~]?',
    // A string (title, link, device control): ends with BEL or ST. An escape of another kind ends it too.
    '(?:\\u001b[\\]PX^_]|[\\u0090\\u0098\\u009d-\\u009f])[^\\u0007\\u001b\\u009c]*(?:\\u0007|\\u001b\\\\|\\u009c)?',
    // Everything else that an escape begins.
    '\\u001b[ -/]*[0-~]?',
  ].join('|'),
  'g',
);
