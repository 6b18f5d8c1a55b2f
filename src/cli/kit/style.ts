import type { WriteStream } from 'node:tty';

/** Ways to make text stand out; none of them does anything where that is not wanted. */
export interface Style {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly good: Paint;
  readonly bad: Paint;
  readonly caution: Paint;
  /** How many columns there are for text; Infinity where it is no terminal. */
  readonly columns: number;
}

type Paint = (text: string) => string;

const asItIs: Paint = (text) => text;

/** No colours anywhere. */
export const plainStyle: Style = {
  bold: asItIs,
  dim: asItIs,
  good: asItIs,
  bad: asItIs,
  caution: asItIs,
  columns: Infinity,
};

/** Colours on a terminal whose user did not decline them (NO_COLOR), plain text everywhere else. */
export function createStyle(
  stream: Pick<WriteStream, 'isTTY'> & { readonly columns?: number },
  env: NodeJS.ProcessEnv,
): Style {
  const wanted = stream.isTTY && !env.NO_COLOR && env.TERM !== 'dumb';
  const paint =
    (on: number, off: number): Paint =>
    (text) =>
      wanted && text !== '' ? `\x1b[${on}m${text}\x1b[${off}m` : text;
  return {
    bold: paint(1, 22),
    dim: paint(2, 22),
    good: paint(32, 39),
    bad: paint(31, 39),
    caution: paint(33, 39),
    // Some terminals say 0.
    columns: (stream.isTTY && stream.columns) || Infinity,
  };
}
