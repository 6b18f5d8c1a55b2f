/** A piece of type text and its precedence: a union inside an array needs parentheses. */
export interface Piece {
  readonly text: string;
  readonly binds: 'atom' | 'and' | 'or';
}

export function union(pieces: readonly Piece[]): Piece {
  const options = [...new Set(pieces.map((piece) => piece.text))].filter((text) => text !== 'never');
  if (options.length === 0) return NEVER;
  if (options.includes('any')) return ANY;
  if (options.length === 1) return pieces.find((piece) => piece.text === options[0]) ?? ANY;
  return { text: options.join('|'), binds: 'or' };
}

export function intersection(pieces: readonly Piece[]): Piece {
  const parts = pieces.filter((piece) => piece.text !== 'any');
  const [first, second] = parts;
  if (first === undefined) return ANY;
  if (second === undefined) return first;
  const texts = new Set(parts.map((piece) => (piece.binds === 'or' ? `(${piece.text})` : piece.text)));
  return { text: [...texts].join('&'), binds: 'and' };
}

export function bracketed(piece: Piece): string {
  return piece.binds === 'atom' ? piece.text : `(${piece.text})`;
}

export function atom(text: string): Piece {
  return { text, binds: 'atom' };
}

export const ANY = atom('any');
export const NEVER = atom('never');
export const NULL = atom('null');
export const MORE = atom('…');
