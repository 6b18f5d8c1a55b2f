import { readdirSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { SwitchboardError } from '../shared/errors.ts';
import { didYouMean } from '../shared/nearest.ts';
import { SWITCHBOARD, type Face } from './face.ts';

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
export function findConfig(cwd: string, explicit?: string, face: Face = SWITCHBOARD): FoundConfig {
  const usual = face.configFile ?? CONFIG_NAMES[0]!;
  if (explicit !== undefined) {
    const path = resolve(cwd, explicit);
    const advice = (): string => whereElse(path) ?? `Check the path; without one, ${usual} is looked for.`;
    return { file: existing(path, usual, advice), unused: [] };
  }
  if (face.configFile !== undefined) {
    const advice = (): string => face.configHint ?? 'Create it, or name another file.';
    return { file: existing(resolve(cwd, face.configFile), usual, advice), unused: [] };
  }
  if (face.findsConfig === false) return { file: undefined, unused: [] };
  const [file, ...unused] = CONFIG_NAMES.map((name) => join(resolve(cwd), name)).filter(isFile);
  return { file, unused };
}

/** The file, which must be there; `usual` is what such a file is called, `advice` what to do without it. */
function existing(file: string, usual: string, advice: () => string): string {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined) {
    throw new SwitchboardError('CONFIG_NOT_FOUND', `There is no configuration file ${file}.`, {
      hint: advice(),
    });
  }
  if (!found.isDirectory()) return file;
  throw new SwitchboardError('CONFIG_NOT_FOUND', `${file} is a directory, not a configuration file.`, {
    hint: `Name the file itself, for example ${join(file, usual)}.`,
  });
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

function whereElse(file: string): string | undefined {
  let present: string[];
  try {
    present = readdirSync(dirname(file));
  } catch {
    return `The directory ${dirname(file)} does not exist or cannot be read.`;
  }
  const likely = present.filter((name) => /\.(?:jsonc?|[cm]?js)$/.test(name));
  return didYouMean(basename(file), likely);
}
