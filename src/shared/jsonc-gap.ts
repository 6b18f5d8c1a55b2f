/** A piece of the text between two JSON values: white space, a comment or a comma. */
export interface GapPiece {
  /** `line` is a comment from `//` to the end of its line, without trailing white space. */
  readonly kind: 'blank' | 'line' | 'block' | 'comma';
  readonly start: number;
  readonly end: number;
  /** The number of line breaks in it. */
  readonly breaks: number;
}

/** Splits the text between two values. It has been parsed, so it contains nothing else. */
export function piecesOf(text: string, from: number, to: number): GapPiece[] {
  const pieces: GapPiece[] = [];
  let start = from;
  while (start < to) {
    const kind = kindAt(text, start);
    const end = Math.min(endOf(kind, text, start), to);
    pieces.push({ kind, start, end, breaks: text.slice(start, end).split('\n').length - 1 });
    start = end;
  }
  return pieces;
}

function kindAt(text: string, at: number): GapPiece['kind'] {
  if (text[at] === ',') return 'comma';
  if (text[at] !== '/') return 'blank';
  return text[at + 1] === '/' ? 'line' : 'block';
}

function endOf(kind: GapPiece['kind'], text: string, at: number): number {
  switch (kind) {
    case 'comma':
      return at + 1;
    case 'block':
      return text.indexOf('*/', at + 2) + 2;
    case 'line':
      return at + restOfLine(text, at).replace(/[ \t\r]+$/, '').length;
    case 'blank': {
      BLANK.lastIndex = at;
      return BLANK.test(text) ? BLANK.lastIndex : text.length;
    }
  }
}

const BLANK = /[ \t\r\n]+/y;

function restOfLine(text: string, at: number): string {
  const end = text.indexOf('\n', at);
  return text.slice(at, end === -1 ? undefined : end);
}
