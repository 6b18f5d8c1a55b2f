import { ObjectMemo } from './object-memo.ts';

/** Start and end offsets of the members of a shape, at 2 × slot and 2 × slot + 1; −1 if absent. */
export type Offsets = number[];

/** The members to find, by path. Everything else is checked but not recorded. */
export interface Shape {
  readonly root: ShapeNode;
  readonly slots: number;
  /** The slot of a dotted path, such as `params.name`; throws if the path is not in the shape. */
  slot(path: string): number;
  /** New offsets with nothing found. */
  offsets(): Offsets;
  /** Members that are found only when one of them is read; their slots start at FIRST_RARE. */
  readonly rare: Shape | undefined;
  /** The same members and the rare ones in one scan: the offsets of the rare ones follow those of the others. */
  readonly whole: Shape;
}

/** Slots below this are found in the first scan of a message. */
export const FIRST_RARE = 64;

/** The names to find; `true` for a member whose contents do not matter. */
export interface ShapeSpec {
  readonly [name: string]: true | ShapeSpec;
}

/** One object of a shape, with the members to find in it. */
export interface ShapeNode {
  readonly names: readonly string[];
  /** The names as bytes, each with its closing quote. */
  readonly keys: readonly Uint8Array[];
  readonly slots: readonly number[];
  readonly children: readonly (ShapeNode | undefined)[];
  /** Set for an object that usually equals an earlier one. */
  readonly memo: ObjectMemo | undefined;
}

/**
 * `rareSpec` lists members that few messages have or few readers need, because offsets for each in every message cost
 * memory. `memoizedPaths` are objects that are mostly the same in every message, used when all members are read.
 */
export function defineShape(
  spec: ShapeSpec,
  rareSpec?: ShapeSpec,
  memoizedPaths: readonly string[] = [],
): Shape {
  const rare = rareSpec && defineShape(rareSpec);
  const paths = new Map<string, number>();
  const root = buildNode(spec, '', [], (path) => {
    const slot = paths.size;
    paths.set(path, slot);
    return slot;
  });
  const count = paths.size;
  const slotOf = (path: string): number => {
    const slot = paths.get(path);
    if (slot !== undefined) return slot;
    if (rare === undefined) throw new Error(`The shape has no member ${path}`);
    return FIRST_RARE + rare.slot(path);
  };
  const shape = { root, slots: count, slot: slotOf, offsets: emptyOffsets(count), rare };
  if (rare === undefined || rareSpec === undefined)
    return {
      ...shape,
      get whole() {
        return this;
      },
    };
  const whole = (): Shape => {
    const slotIn = (path: string): number => paths.get(path) ?? count + rare.slot(path);
    const all = buildNode(merged(spec, rareSpec), '', memoizedPaths, slotIn);
    const slots = count + rare.slots;
    return {
      root: all,
      slots,
      slot: slotOf,
      offsets: emptyOffsets(slots),
      rare,
      get whole() {
        return this;
      },
    };
  };
  let known: Shape | undefined;
  return {
    ...shape,
    get whole() {
      return (known ??= whole());
    },
  };
}

function emptyOffsets(slots: number): () => Offsets {
  const nothing = new Array<number>(slots * 2).fill(-1);
  return () => nothing.slice();
}

function buildNode(
  part: ShapeSpec,
  prefix: string,
  memoizedPaths: readonly string[],
  slotOf: (path: string) => number,
): ShapeNode {
  const names = Object.keys(part);
  const slots = names.map((name) => slotOf(prefix + name));
  const children = names.map((name) => {
    const inner = part[name];
    if (inner === true || inner === undefined) return undefined;
    return buildNode(inner, `${prefix}${name}.`, memoizedPaths, slotOf);
  });
  return {
    names,
    keys: names.map((name) => Buffer.from(`${name}"`)),
    slots,
    children,
    memo: memoizedPaths.includes(prefix.slice(0, -1)) ? new ObjectMemo(slotsIn(slots, children)) : undefined,
  };
}

/** The slots of members and of everything to find in them. */
function slotsIn(slots: readonly number[], children: ShapeNode['children']): number[] {
  return [...slots, ...children.flatMap((child) => (child ? slotsIn(child.slots, child.children) : []))];
}

function merged(one: ShapeSpec, other: ShapeSpec): ShapeSpec {
  const all: Record<string, true | ShapeSpec> = { ...one };
  for (const [name, inner] of Object.entries(other)) {
    const before = all[name];
    if (before === undefined || before === true) all[name] = inner;
    else if (inner !== true) all[name] = merged(before, inner);
  }
  return all;
}
