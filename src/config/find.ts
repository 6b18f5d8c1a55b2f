import { readdirSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { SwitchboardError } from '../shared/errors.ts';
import { didYouMean } from '../shared/nearest.ts';
import { homeDirectory, userConfigDirectory } from '../shared/paths.ts';
import { isAnyFile, statOf } from '../shared/regular-file.ts';
import { SWITCHBOARD, type ProgramVariant } from './program-variant.ts';

export const USUAL_CONFIG_NAME = 'switchboard.config.json';
/** In the order in which they are searched for. */
export const CONFIG_NAMES: readonly [string, ...string[]] = [
  USUAL_CONFIG_NAME,
  ...['jsonc', 'js', 'cjs', 'mjs'].map((extension) => `switchboard.config.${extension}`),
];

/** Why a file is read: it was named, it is the user file, or the working directory is in its project. */
export type ConfigScope = 'explicit' | 'user' | 'project';

export interface ConfigFile {
  /** Absolute. */
  readonly path: string;
  readonly scope: ConfigScope;
  /** True if it cannot be used and only the other file is. */
  readonly leftOut?: boolean;
}

export interface FindConfigOptions {
  /** Where the search for the project file begins, and what `configPath` is relative to. */
  readonly cwd: string;
  /** Read only this file. Default: search. */
  readonly configPath?: string | undefined;
  /** The program that runs. Default `switchboard`. */
  readonly variant?: ProgramVariant | undefined;
  /** The directory of the user file. Default: userConfigDirectory(). */
  readonly userDirectory?: string | undefined;
  /** The home directory, which is not a project. Default: the user's. */
  readonly home?: string | undefined;
}

export interface FoundConfig {
  /** The files to read. The first one takes precedence: the project file comes before the user file. */
  readonly files: readonly ConfigFile[];
  /** Other configuration files next to them, which are not used. */
  readonly unused: readonly { readonly path: string; readonly usedInstead: string }[];
  /** Where the user file is, or would be; undefined if none is read. */
  readonly userDirectory: string | undefined;
}

/** The configuration files for a working directory, or the one that was named. */
export function findConfig(options: FindConfigOptions): FoundConfig {
  const { cwd, configPath, variant = SWITCHBOARD, userDirectory = userConfigDirectory() } = options;
  const only = (path: string, scope: ConfigScope): FoundConfig => ({
    files: [{ path, scope }],
    unused: [],
    userDirectory: undefined,
  });
  if (configPath !== undefined) return only(existingConfig(resolve(cwd, configPath), variant), 'explicit');
  if (variant.configFile !== undefined) {
    const advice = (): string => variant.configHint ?? 'Create it, or name another file.';
    const path = resolve(cwd, variant.configFile);
    if (variant.mayBeMissing === true && !exists(path))
      return { files: [], unused: [], userDirectory: undefined };
    return only(existing(path, variant.configFile, advice), 'project');
  }
  if (variant.findsConfig === false) return { files: [], unused: [], userDirectory: undefined };
  const project = projectConfigs(cwd, userDirectory, options.home);
  const user = configsIn(userDirectory);
  return {
    files: [
      ...project.slice(0, 1).map((path) => ({ path, scope: 'project' }) as const),
      ...user.slice(0, 1).map((path) => ({ path, scope: 'user' }) as const),
    ],
    unused: [project, user].flatMap(([usedInstead = '', ...others]) =>
      others.map((path) => ({ path, usedInstead })),
    ),
    userDirectory,
  };
}

/** Where the configuration of a scope is, or would be created. */
export interface ConfigLocation {
  /** The file, absolute; undefined if there is none yet. */
  readonly file: string | undefined;
  readonly directory: string;
  /** The file, or the one that would be created. */
  readonly path: string;
}

/** The location of the user file, or of the project file: the nearest one, otherwise in `cwd`. */
export function locateConfig(
  scope: 'user' | 'project',
  options: Pick<FindConfigOptions, 'cwd' | 'userDirectory' | 'home'>,
): ConfigLocation {
  const { cwd, userDirectory = userConfigDirectory(), home } = options;
  const [file] = scope === 'user' ? configsIn(userDirectory) : projectConfigs(cwd, userDirectory, home);
  const directory = file !== undefined ? dirname(file) : scope === 'user' ? userDirectory : resolve(cwd);
  return { file, directory, path: file ?? join(directory, USUAL_CONFIG_NAME) };
}

/** The configuration files of one directory; the first is the one in use. */
export function configsIn(directory: string): string[] {
  return CONFIG_NAMES.map((name) => join(resolve(directory), name)).filter(isAnyFile);
}

/** The file that was named, which must exist. */
export function existingConfig(path: string, variant: ProgramVariant = SWITCHBOARD): string {
  const usual = variant.configFile ?? USUAL_CONFIG_NAME;
  const otherwise = variant.findsConfig === false ? '.' : `, or leave it out to use ${usual}.`;
  const advice = (): string => whereElse(path) ?? `Check the path${otherwise}`;
  return existing(path, usual, advice);
}

/**
 * The configuration files of the nearest directory that has any, from `cwd` upwards to the root of the repository. The
 * home directory counts only if `cwd` is the home directory itself: otherwise a file in it would apply to every folder
 * below.
 */
function projectConfigs(cwd: string, userDirectory: string, home = homeDirectory()): string[] {
  const start = resolve(cwd);
  for (let directory = start; ; directory = dirname(directory)) {
    const here = real(directory);
    if (here === real(userDirectory) || (directory !== start && here === real(home))) return [];
    const found = configsIn(directory);
    const isLast = exists(join(directory, '.git')) || dirname(directory) === directory;
    if (found.length > 0 || isLast) return found;
  }
}

/** The file, which must exist. `usual` is the usual name of such a file, `advice` what to do without it. */
function existing(file: string, usual: string, advice: () => string): string {
  const found = statOf(file);
  if (found === undefined) {
    throw new SwitchboardError('CONFIG_NOT_FOUND', `Configuration file not found: ${file}.`, {
      hint: advice(),
    });
  }
  if (!found.isDirectory()) return file;
  throw new SwitchboardError('CONFIG_NOT_FOUND', `${file} is a directory, not a configuration file.`, {
    hint: `Name the file itself, for example ${join(file, usual)}.`,
  });
}

function exists(path: string): boolean {
  return statOf(path) !== undefined;
}

function real(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return resolve(path);
  }
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
