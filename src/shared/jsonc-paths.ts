import type { JsoncNode } from './jsonc.ts';
import { editJsonc, removeMember, setMember, type LocatedText } from './jsonc-members.ts';

export type JsonPath = readonly string[];

/** The value at these keys; undefined if there is none. Of duplicate keys, the last one counts. */
export function nodeAt({ root }: LocatedText, path: JsonPath): JsoncNode | undefined {
  return path.reduce<JsoncNode | undefined>(
    (node, key) => node?.members?.findLast((member) => member.key === key)?.node,
    root,
  );
}

/** The text with a value at these keys, whose objects are created if missing. Throws NotAnObject. */
export function putAt(located: LocatedText, path: JsonPath, value: unknown): string {
  let node = located.root;
  for (const [at, key] of path.entries()) {
    if (node.members === undefined) throw new NotAnObject(path.slice(0, at), node.start);
    const member = node.members.findLast((each) => each.key === key);
    if (member === undefined || at === path.length - 1)
      return setMember(located, node, key, nested(path.slice(at + 1), value));
    node = member.node;
  }
  return located.text;
}

/** The text without the value at these keys and the comments that belong to it. */
export function removeAt(text: string, path: JsonPath): string {
  return editJsonc(text, (located) => {
    const parent = nodeAt(located, path.slice(0, -1));
    if (parent?.members === undefined) return located.text;
    const member = parent.members.findLast(({ key }) => key === path.at(-1));
    if (member === undefined) return located.text;
    // Plain JSON may contain it twice.
    return removeAt(removeMember(located, parent, member), path);
  });
}

/** The value at these keys is not an object. */
export class NotAnObject extends Error {
  readonly path: JsonPath;
  readonly offset: number;

  constructor(path: JsonPath, offset: number) {
    super(`${path.length === 0 ? 'the whole' : `"${path.join('.')}"`} must be an object`);
    this.path = path;
    this.offset = offset;
  }
}

/** Built so that "__proto__" is an ordinary key. */
function nested(path: JsonPath, value: unknown): unknown {
  return path.reduceRight((inner, key) => Object.fromEntries([[key, inner]]), value);
}
