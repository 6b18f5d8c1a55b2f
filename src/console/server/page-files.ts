import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';

/** A file of the page as it is sent. */
export interface PageFile {
  readonly type: string;
  readonly content: Buffer;
  /** Whether its name changes with its content. */
  readonly fixed: boolean;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
  '.png': 'image/png',
};

/**
 * The files of the page, by their path below `/console`: the document at the empty path, and the files in `assets`.
 * Only these can be requested, so that no path leads anywhere else. They are part of the program, so they are read
 * once. Empty if they were not built.
 */
export function readPageFiles(directory: string): ReadonlyMap<string, PageFile> {
  const files = new Map<string, PageFile>();
  if (!existsSync(directory)) return files;
  const add = (path: string, file: string, fixed: boolean): void => {
    const type = TYPES[extname(file)];
    if (type !== undefined) files.set(path, { type, content: readFileSync(file), fixed });
  };
  add('', join(directory, 'index.html'), false);
  const assets = join(directory, 'assets');
  for (const name of readdirSync(assets)) add(`/assets/${name}`, join(assets, name), true);
  return files;
}
