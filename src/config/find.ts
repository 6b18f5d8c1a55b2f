import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { SwitchboardError } from '../shared/errors.ts';
import { didYouMean } from '../shared/nearest.ts';

/** In the order in which they are looked for. */
export const CONFIG_NAMES = ['json', 'jsonc', 'js', 'cjs', 'mjs'].map(
  (extension) => `switchboard.config.${extension}`,
);

export interface FoundConfig {
  /** The file to use, absolute; undefined when there is none and the defaults hold. */
  readonly file: string | undefined;
  /** Further configuration files beside it, which are not used. */
  readonly unused: readonly string[];
}

/** The configuration file of a directory, or the one asked for by name. */
export function findConfig(cwd: string, explicit?: string): FoundConfig {
  if (explicit !== undefined) return { file: existing(resolve(cwd, explicit)), unused: [] };
  const [file, ...unused] = CONFIG_NAMES.map((name) => join(resolve(cwd), name)).filter(isFile);
  return { file, unused };
}

function existing(file: string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) {
    throw new SwitchboardError('CONFIG_NOT_FOUND', `There is no configuration file ${file}.`, {
      hint: whereElse(file),
    });
  }
  if (!found.isDirectory()) return file;
  throw new SwitchboardError('CONFIG_NOT_FOUND', `${file} is a directory, not a configuration file.`, {
    hint: `Name the file itself, for example ${join(file, CONFIG_NAMES[0]!)}.`,
  });
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function whereElse(file: string): string {
  let present: string[];
  try {
    present = readdirSync(dirname(file));
  } catch {
    return `The directory ${dirname(file)} does not exist or cannot be read.`;
  }
  const likely = present.filter((name) => /\.(?:jsonc?|[cm]?js)$/.test(name));
  return (
    didYouMean(basename(file), likely) ?? `Check the path; without one, ${CONFIG_NAMES[0]!} is looked for.`
  );
}
