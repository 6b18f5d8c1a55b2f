import { open } from 'node:fs/promises';
import { Turns } from '../shared/turns.ts';

/** Where the bytes of a result are. */
export type ResultPlace =
  { readonly kind: 'memory'; readonly bytes: Buffer } | { readonly kind: 'file'; readonly file: string };

/** The facts about a result besides its text. */
export interface KeptResultFacts {
  /** In UTF-16 code units. */
  readonly length: number;
  /** How many lines begin in it. */
  readonly lines: number;
  /** Where each of its text items begins; items are separated by a line break. */
  readonly items: readonly number[];
  readonly maxTokens: number;
  readonly minify: boolean;
}

/** The full text of a result that was too long, with every code unit preserved. */
export class KeptResult {
  readonly id: string;
  readonly facts: KeptResultFacts;
  readonly place: ResultPlace;
  readonly encoding: TextEncoding;
  #lineStarts: Promise<readonly number[]> | undefined;

  constructor(id: string, facts: KeptResultFacts, encoding: TextEncoding, place: ResultPlace) {
    this.id = id;
    this.facts = facts;
    this.encoding = encoding;
    this.place = place;
  }

  /** Its size, in bytes. */
  get size(): number {
    return this.facts.length * bytesPerUnit(this.encoding);
  }

  /**
   * Opens the result, which can then be read to the end even if it is dropped meanwhile. Throws if it is dropped
   * already.
   */
  async open(): Promise<OpenResult> {
    const { encoding, place } = this;
    const width = bytesPerUnit(encoding);
    if (place.kind === 'memory') {
      const { bytes } = place;
      const slice = (from: number, to: number): Promise<string> =>
        Promise.resolve(bytes.toString(encoding, from * width, to * width));
      return { result: this, slice, close: () => Promise.resolve() };
    }
    const handle = await open(place.file, 'r');
    return {
      result: this,
      slice: async (from, to) => {
        const bytes = Buffer.allocUnsafe((to - from) * width);
        for (let got = 0; got < bytes.length;) {
          const { bytesRead } = await handle.read(bytes, got, bytes.length - got, from * width + got);
          if (bytesRead === 0) throw new Error('The file of a kept result is too short');
          got += bytesRead;
        }
        return bytes.toString(encoding);
      },
      close: () => handle.close(),
    };
  }

  /** The position of every line whose number is a multiple of LINES_PER_MARK. */
  lineMarks(opened: OpenResult): Promise<readonly number[]> {
    return (this.#lineStarts ??= marksIn(opened, this.facts.length).catch((error: unknown) => {
      this.#lineStarts = undefined;
      throw error;
    }));
  }
}

/** `latin1` takes one byte per code unit, for texts that need no more. */
export type TextEncoding = 'latin1' | 'utf16le';

export function bytesPerUnit(encoding: TextEncoding): 1 | 2 {
  return encoding === 'latin1' ? 1 : 2;
}

export interface OpenResult {
  readonly result: KeptResult;
  /** A part of its text. */
  readonly slice: (from: number, to: number) => Promise<string>;
  readonly close: () => Promise<void>;
}

export const LINES_PER_MARK = 1000;
/** How much is read at a time, in UTF-16 code units. */
export const BLOCK = 256 * 1024;

async function marksIn({ slice }: OpenResult, length: number): Promise<readonly number[]> {
  const turns = new Turns();
  const marks = [0];
  let line = 0;
  for (let from = 0; from < length; from += BLOCK) {
    const text = await slice(from, Math.min(from + BLOCK, length));
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1))
      if (++line % LINES_PER_MARK === 0) marks.push(from + at + 1);
    const pause = turns.next();
    if (pause) await pause;
  }
  return marks;
}

/** Where a line begins, counting lines from 0; the end of the text for a line that does not exist. */
export async function startOfLine(opened: OpenResult, line: number): Promise<number> {
  const { length } = opened.result.facts;
  const marks = await opened.result.lineMarks(opened);
  const mark = Math.min(Math.floor(line / LINES_PER_MARK), marks.length - 1);
  const start = marks[mark] ?? 0;
  let missing = line - mark * LINES_PER_MARK;
  for (let from = start; missing > 0 && from < length; from += BLOCK) {
    const text = await opened.slice(from, Math.min(from + BLOCK, length));
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1))
      if (--missing === 0) return from + at + 1;
  }
  return missing > 0 ? length : start;
}
