import type { WriteStream } from 'node:tty';

/** Ways to make text stand out; they do nothing if styling is off. */
export interface Style {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly good: Paint;
  readonly bad: Paint;
  readonly caution: Paint;
  /** The width of the terminal in columns; Infinity if it is not a terminal. */
  readonly columns: number;
}

type Paint = (text: string) => string;

const asItIs: Paint = (text) => text;

/** Without colors. */
export const plainStyle: Style = {
  bold: asItIs,
  dim: asItIs,
  good: asItIs,
  bad: asItIs,
  caution: asItIs,
  columns: Infinity,
};

/** Colors on a terminal whose user did not decline them (NO_COLOR), plain text everywhere else. */
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
    // Some terminals report 0.
    columns: (stream.isTTY && stream.columns) || Infinity,
  };
}
