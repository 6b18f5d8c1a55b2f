import { isObject } from '../shared/is-object.ts';
import type { JsoncNode } from '../shared/jsonc.ts';
import { editJsonc, removeMember, setMember, type LocatedText } from '../shared/jsonc-members.ts';
import { faultAt } from './container.ts';

/**
 * A text with a value at the end of these keys, which are made where they are missing. The text is one that can be
 * parsed; one without a value counts as an empty object.
 */
export function setInJson(text: string, path: readonly string[], value: unknown): string {
  const whole = withObject(text);
  const present = editing(whole, (located) => nodeAt(located, path));
  const keys = present?.members?.map(({ key }) => key) ?? [];
  const gone = isObject(value) ? keys.filter((key) => !Object.hasOwn(value, key)) : keys;
  if (!isObject(value) || gone.length === keys.length)
    return editJsonc(whole, (located) => put(located, path, value));
  // Member by member, so that what stays keeps its comments.
  const without = gone.reduce((rest, key) => removeFromJson(rest, [...path, key]), whole);
  return Object.entries(value).reduce(
    (rest, [key, member]) => editJsonc(rest, (located) => put(located, [...path, key], member)),
    without,
  );
}

/** The text without the value at these keys and the comments that belong to it. */
export function removeFromJson(text: string, path: readonly string[]): string {
  return editJsonc(text, (located) => {
    const parent = nodeAt(located, path.slice(0, -1));
    const member = parent?.members?.findLast(({ key }) => key === path.at(-1));
    if (member === undefined) return located.text;
    // Plain JSON may have it twice.
    return removeFromJson(removeMember(located, parent!, member), path);
  });
}

function put(located: LocatedText, path: readonly string[], value: unknown): string {
  let node = located.root;
  for (const [at, key] of path.entries()) {
    if (node.members === undefined)
      throw faultAt(located.text, node.start, `${shown(path, at)} must be an object`);
    const member = node.members.findLast((each) => each.key === key);
    if (member === undefined || at === path.length - 1)
      return setMember(located, node, key, nested(path.slice(at + 1), value));
    node = member.node;
  }
  return located.text;
}

function shown(path: readonly string[], length: number): string {
  return length === 0 ? 'the whole' : `"${path.slice(0, length).join('.')}"`;
}

/** Made so that "__proto__" is a key like any other. */
function nested(path: readonly string[], value: unknown): unknown {
  return path.reduceRight((inner, key) => Object.fromEntries([[key, inner]]), value);
}

export function nodeAt({ root }: LocatedText, path: readonly string[]): JsoncNode | undefined {
  return path.reduce<JsoncNode | undefined>(
    (node, key) => node?.members?.findLast((member) => member.key === key)?.node,
    root,
  );
}

function editing<T>(text: string, look: (located: LocatedText) => T): T {
  let seen: T;
  editJsonc(text, (located) => {
    seen = look(located);
    return located.text;
  });
  return seen!;
}

/** A text in which there is something to edit. Standalone comments stay where they are. */
function withObject(text: string): string {
  const [mark, body] = text.startsWith('\ufeff') ? ['\ufeff', text.slice(1)] : ['', text];
  if (body.replace(BLANK_OR_COMMENT, '') !== '') return text;
  const eol = body.includes('\r\n') ? '\r\n' : '\n';
  const separate = body === '' || body.endsWith('\n') ? '' : eol;
  return `${mark}${body}${separate}{}${eol}`;
}

const BLANK_OR_COMMENT = /\s+|\/\/[^\n]*|\/\*[^]*?\*\//g;
