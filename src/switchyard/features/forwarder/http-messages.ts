/** The body after a head: a number of bytes, chunks, or everything until the connection ends. */
export type HttpBody = number | 'chunked' | 'rest';

/** Finds where messages begin and end in one direction of an HTTP/1 connection. */
export interface HttpMessages {
  /** Consumes the next bytes. Throws if they are not HTTP/1 as we understand it. */
  read(chunk: Buffer): void;
  /** Whether a head has begun but is incomplete. */
  readonly inHead: boolean;
}

/** Maximum length of a head, and of a line between chunks, in bytes. */
const LONGEST_HEAD = 64 * 1024;

/** Bodies are skipped by length, so large ones cost nothing. `onHead` gets the lines of a head. */
export function followMessages(
  onHead: (lines: readonly string[]) => HttpBody,
  onEnd: () => void,
): HttpMessages {
  let part: 'head' | 'body' | 'chunk size' | 'chunk end' | 'trailer' | 'rest' = 'head';
  /** Bytes to skip before the next line, or the end of the body. */
  let left = 0;
  let line = '';
  let lines: string[] = [];
  let size = 0;

  function end(): void {
    part = 'head';
    onEnd();
  }

  function begin(body: HttpBody): void {
    if (body === 0) end();
    else if (body === 'rest') part = 'rest';
    else if (body === 'chunked') part = 'chunk size';
    else {
      part = 'body';
      left = body;
    }
  }

  function takeLine(text: string): void {
    if (part === 'head') {
      if (text !== '') lines.push(text);
      // Clients may send empty lines between requests.
      else if (lines.length > 0) {
        const head = lines;
        lines = [];
        begin(onHead(head));
      }
    } else if (part === 'chunk size') {
      const [digits] = /^[\da-f]{1,12}(?=\s*(?:;|$))/i.exec(text) ?? [];
      if (digits === undefined) throw new Error('not a chunk size');
      left = parseInt(digits, 16);
      part = left === 0 ? 'trailer' : 'chunk end';
    } else if (part === 'chunk end') {
      if (text !== '') throw new Error('a chunk is longer than it says');
      part = 'chunk size';
    } else if (text === '') end();
    if (lines.length === 0 && part !== 'trailer') size = 0;
  }

  function read(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length && part !== 'rest') {
      if (left > 0) {
        const skipped = Math.min(left, chunk.length - at);
        at += skipped;
        left -= skipped;
        if (left === 0 && part === 'body') end();
        continue;
      }
      const feed = chunk.indexOf(10, at);
      const stop = feed === -1 ? chunk.length : feed;
      size += stop - at;
      if (size > LONGEST_HEAD) throw new Error('the head is too long');
      line += chunk.toString('latin1', at, stop);
      at = stop + 1;
      if (feed === -1) return;
      const text = line.endsWith('\r') ? line.slice(0, -1) : line;
      line = '';
      takeLine(text);
    }
  }

  return {
    read,
    get inHead() {
      return part === 'head' && (lines.length > 0 || line !== '');
    },
  };
}
