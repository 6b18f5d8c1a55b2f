import type { Offsets } from './shape.ts';

/** Longer objects are not kept: to be the same every time is for short ones. */
const MAX_BYTES = 1024;
/** Shorter ones are read as fast as they are compared. */
const MIN_BYTES = 16;
/** So many are kept of each kind: a gateway has several servers, and each says something else. */
const MAX_OBJECTS = 8;
/** So many may pass unkept after many that were kept for nothing. */
const MAX_PAUSE = 1024;

/**
 * Objects that come with every message and mostly say the same, such as who a client is. What was checked once need not
 * be checked again: where the very same bytes stand, there stands the same object, with its members at the same places.
 * That holds wherever it is looked for, since an object shows by itself where it ends.
 */
export class ObjectMemo {
  /** The slots of all members that are looked for in it. */
  readonly #slots: readonly number[];
  readonly #objects: MemoizedObject[] = [];
  #next = 0;
  /** After one was kept for nothing, twice as many pass before another is kept: some say something new every time. */
  #pause = 1;
  #toSkip = 1;

  constructor(slots: readonly number[]) {
    this.#slots = slots;
  }

  /** The one that stands at `at`, with its members noted, if it is one of those that are kept. */
  find(bytes: Uint8Array, at: number, end: number, offsets: Offsets): MemoizedObject | undefined {
    const objects = this.#objects;
    if (objects.length === 0) return undefined;
    const view = viewOn(bytes.buffer);
    const start = bytes.byteOffset + at;
    for (let index = 0; index < objects.length; index++) {
      const each = objects[index]!;
      if (each.length > end - at || !equalsAt(each, view, start)) continue;
      each.used = true;
      const { found } = each;
      for (let next = 0; next < found.length; next += 2) offsets[found[next]!] = at + found[next + 1]!;
      return each;
    }
    return undefined;
  }

  /** Takes note of an object that was read to its end; it has no line break between its tokens. */
  store(bytes: Uint8Array, start: number, end: number, offsets: Offsets): void {
    if (end - start > MAX_BYTES || end - start < MIN_BYTES || --this.#toSkip > 0) return;
    const objects = this.#objects;
    if (objects.length === MAX_OBJECTS) {
      // The oldest that was of no use makes room; where each was of use, the oldest of all.
      let tried = 0;
      for (; tried < MAX_OBJECTS && objects[this.#next]!.used; tried++) {
        objects[this.#next]!.used = false;
        this.#next = (this.#next + 1) % MAX_OBJECTS;
      }
      this.#pause = tried === MAX_OBJECTS ? 1 : Math.min(this.#pause * 2, MAX_PAUSE);
    }
    this.#toSkip = this.#pause;
    const found: number[] = [];
    for (const slot of this.#slots)
      for (const place of [slot * 2, slot * 2 + 1])
        if (offsets[place] !== -1) found.push(place, offsets[place]! - start);
    const copy = new Uint8Array(bytes.subarray(start, end));
    objects[this.#next] = { view: new DataView(copy.buffer), length: copy.length, found, used: false };
    this.#next = (this.#next + 1) % MAX_OBJECTS;
  }
}

/** An object that was kept. Its bytes never change: whoever knows it knows them. */
export interface MemoizedObject {
  readonly view: DataView;
  readonly length: number;
  /** What was found in it: indexes of places, each followed by its offset from the start. */
  readonly found: readonly number[];
  /** Whether it came again since it was last thought of being replaced. */
  used: boolean;
}

/**
 * Whether these bytes stand there. Eight at a time, as the number they would be, and the last ones first, for ends differ
 * where beginnings do not. Two numbers are equal only where all bits are: the exception is zero, and no JSON text has eight
 * zero bytes. (What would be no number at all is never equal: then it is read once more.)
 */
function equalsAt(objects: MemoizedObject, view: DataView, start: number): boolean {
  const mine = objects.view;
  const last = objects.length - 8;
  if (mine.getFloat64(last, true) !== view.getFloat64(start + last, true)) return false;
  let at = 0;
  while (at < last && mine.getFloat64(at, true) === view.getFloat64(start + at, true)) at += 8;
  return at >= last;
}

const MAX_HELD = 4 * 1024 * 1024;

// The view over the buffer looked at last: the next message mostly stands in the same one.
let viewOf: ArrayBufferLike | undefined;
let lastView: DataView = new DataView(new ArrayBuffer(0));

function viewOn(buffer: ArrayBufferLike): DataView {
  if (buffer === viewOf) return lastView;
  const view = new DataView(buffer);
  // Not held where it would keep a very large buffer alive.
  if (buffer.byteLength <= MAX_HELD) {
    viewOf = buffer;
    lastView = view;
  }
  return view;
}
