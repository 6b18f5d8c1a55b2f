import { isAbsolute, join, relative } from 'node:path';
import { printableLine } from '../../shared/printable.ts';
import { homeDirectory } from '../../shared/paths.ts';

/** Printable texts, each on a separate line. */
export function asLines(texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join('');
}

/** The same for texts from outside, which are made printable. */
export function printedLines(texts: readonly string[]): string {
  return asLines(texts.map(printableLine));
}

/** `1 server`, `3 servers` */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** An estimated number of tokens: `≈ 1,200` */
export function tokensText(tokens: number): string {
  return `≈ ${tokens.toLocaleString('en-US')}`;
}

/** A time for a person: `0.4 s`, `12 s`. */
export function secondsText(ms: number): string {
  return ms < 9950 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 1000)} s`;
}

/** The shortest way to write a path: relative to the working directory, relative to the home directory, or absolute. */
export function shortPath(file: string, cwd: string, home: string = homeDirectory()): string {
  const inHome = relative(home, file);
  const fromHome = inHome.startsWith('..') || isAbsolute(inHome) ? [] : [join('~', inHome)];
  const shortest = [relative(cwd, file), ...fromHome, file].reduce((best, path) =>
    path.length < best.length ? path : best,
  );
  return printableLine(shortest);
}
