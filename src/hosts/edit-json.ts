import { isObject } from '../shared/is-object.ts';
import { editJsonc } from '../shared/jsonc-members.ts';
import { nodeAt, NotAnObject, putAt, removeAt, type JsonPath } from '../shared/jsonc-paths.ts';
import { faultAt } from './container.ts';

/**
 * The text with a value at these keys, which are created if missing. The text must be valid; one without a value counts
 * as an empty object.
 */
export function setInJson(text: string, path: JsonPath, value: unknown): string {
  const whole = withObject(text);
  let keys: readonly string[] = [];
  const replaced = editJsonc(whole, (located) => {
    keys = nodeAt(located, path)?.members?.map(({ key }) => key) ?? [];
    try {
      return putAt(located, path, value);
    } catch (error) {
      throw error instanceof NotAnObject ? faultAt(located.text, error.offset, error.message) : error;
    }
  });
  const gone = isObject(value) ? keys.filter((key) => !Object.hasOwn(value, key)) : keys;
  if (!isObject(value) || gone.length === keys.length) return replaced;
  // Member by member, so that the remaining ones keep their comments.
  const without = gone.reduce((rest, key) => removeAt(rest, [...path, key]), whole);
  return Object.entries(value).reduce(
    (rest, [key, member]) => editJsonc(rest, (located) => putAt(located, [...path, key], member)),
    without,
  );
}

/** The text with an object to edit. Standalone comments stay where they are. */
function withObject(text: string): string {
  const [mark, body] = text.startsWith('\ufeff') ? ['\ufeff', text.slice(1)] : ['', text];
  if (body.replace(BLANK_OR_COMMENT, '') !== '') return text;
  const eol = body.includes('\r\n') ? '\r\n' : '\n';
  const separate = body === '' || body.endsWith('\n') ? '' : eol;
  return `${mark}${body}${separate}{}${eol}`;
}

const BLANK_OR_COMMENT = /\s+|\/\/[^\n]*|\/\*[^]*?\*\//g;
