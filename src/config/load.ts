import { basename, dirname, resolve } from 'node:path';
import { didYouMean } from '../shared/nearest.ts';
import { shellWord } from '../shared/shell-word.ts';
import { NO_SECRETS, secretReferences, type Secrets } from '../secrets/index.ts';
import type { ServerCandidate, Warn } from './candidate.ts';
import { resolveCompounds, type CompoundDefinition } from './compound.ts';
import type { BuiltinDefinition, UnusableServer } from './definition.ts';
import { DESCRIPTIONS_FILE, readDescriptions } from './descriptions.ts';
import { SWITCHBOARD } from './program-variant.ts';
import { findConfig, type ConfigFile, type FindConfigOptions } from './find.ts';
import { interpolate, interpolationProblem, type Environment } from './interpolate.ts';
import { mergeConfigs, readLayers, type Layer } from './layers.ts';
import { warnAboutNameClashes } from './name-clashes.ts';
import { keyPath, type ConfigWarning } from './problem.ts';
import type { HookModule } from './read.ts';
import type { ProjectApproval, ProjectFile } from './project-approval.ts';
import { resolveServers, type ResolvedServers } from './resolve.ts';
import { describeSettings, describeLaunch } from './describe-launch.ts';
import { isServerName } from './schema/quick-check.generated.js';
import { applyDefaults, type Settings } from './settings.ts';

export interface LoadConfigOptions extends Omit<FindConfigOptions, 'home'> {
  /** The environment that `${NAME}` is filled in from. */
  readonly env: Environment;
  /** Whether every file must be usable, even if others are. Default false. */
  readonly strict?: boolean | undefined;
  /** Whether an unusable file is a warning instead of an error, even if it is the only one. Default false. */
  readonly keepGoing?: boolean | undefined;
  /** Whether a project's files are used without approval. Default: if SWITCHBOARD_ALLOW_PROJECT is 1. */
  readonly allowProject?: boolean | undefined;
  /** The script that is running; an entry that starts it is left out. Default `process.argv[1]`. */
  readonly ourScript?: string | undefined;
}

export interface LoadedConfig extends ResolvedServers {
  /**
   * The file with the highest precedence: the one that was named, otherwise the project file, otherwise the user file;
   * undefined if there is none.
   */
  readonly file: string | undefined;
  /** All files, the one with the highest precedence first. */
  readonly files: readonly ConfigFile[];
  /** The directory of the project: that of its file (or of the one that was named), otherwise `cwd`. */
  readonly directory: string;
  /** How the files were searched for; undefined if one was named or none is used. */
  readonly search: ConfigSearch | undefined;
  readonly settings: Settings;
  /** The file that contains each entry of `suites`, by the name of the server. */
  readonly suiteFiles: ReadonlyMap<string, string>;
  /** The directory for log files, absolute; undefined if there are none. */
  readonly logDirectory: string | undefined;
  /** `http.token` as written, and where; httpTokenOf fills in its references. Must never be shown. */
  readonly writtenHttpToken: { readonly text: string; readonly file: string } | undefined;
  /** `store` as written, and where; storeUrlOf fills in its references. Must never be shown. Default: none. */
  readonly writtenStore?: { readonly text: string; readonly file: string } | undefined;
  /** The secrets that the configuration refers to. Default: none. */
  readonly secrets?: Secrets;
  /** The project's files that are not allowed yet; undefined if there are none. */
  readonly notAllowed: NotAllowed | undefined;
  /** Returns which projects' files are allowed at that time. */
  readonly openApproval: () => ProjectApproval;
  /** Modules whose functions see every call; the last one has the last word. Default: none. */
  readonly hooks?: readonly HookModule[];
  /** Tools made of tools of several servers, in the order written. */
  readonly compounds: readonly CompoundDefinition[];
  /** What was skipped or ignored, and why. Never contains a value from the environment. */
  readonly warnings: readonly ConfigWarning[];
}

/** Files of a project that are not allowed yet. */
export interface NotAllowed {
  /** The directory of the project. */
  readonly directory: string;
  readonly files: readonly ProjectFile[];
  /** What they would start, one line per server, and which settings they would change. */
  readonly runs: readonly string[];
  /** Its built-in servers, which have files of their own. */
  readonly builtins: readonly BuiltinProject[];
}

/** Identifies the project of a built-in server: a path or a name, otherwise the directory. */
export type BuiltinProject = Pick<BuiltinDefinition, 'directory' | 'project'>;

export interface ConfigSearch {
  readonly cwd: string;
  /** Where the user file is, or would be; undefined if the project leaves it out. */
  readonly userDirectory: string | undefined;
}

/**
 * Reads the configuration and finds all servers. Throws a SwitchboardError if the configuration itself is invalid
 * (CONFIG_NOT_FOUND, CONFIG_UNREADABLE, CONFIG_INVALID). A single invalid server is `unusable`, with a warning, and one
 * of two files is left out with a warning.
 */
export async function loadConfig(options: LoadConfigOptions): Promise<LoadedConfig> {
  const { cwd, env, variant = SWITCHBOARD, strict = false, keepGoing = false } = options;
  const warnings: ConfigWarning[] = [];
  const warn: Warn = (warning) => void warnings.push(warning);
  const found = findConfig(options);
  for (const { path, usedInstead } of found.unused)
    warn({ file: path, message: `is ignored, because ${usedInstead} exists too`, level: 'warn' });
  const { layers, user, files, userDirectory, openApproval } = await readLayers(found, {
    ...{ cwd, variant, strict, keepGoing, warn },
    allowProject: options.allowProject,
  });
  const [first] = layers;
  const { directory } = first;
  const config = mergeConfigs(layers, user);
  const settings = {
    ...applyDefaults({ ...config, discoverGlobs: first.config.discoverGlobs }, variant),
    ...(user === undefined ? {} : { user: { approve: user.approve, pin: user.pin, suites: user.suites } }),
  };
  const read = layers.flatMap((layer) => layer.candidates);
  // A server that is not allowed does not replace another one.
  const candidates = [
    ...read.filter(isAllowed),
    // Their names are shown to a model, so invalid names are left out.
    ...read.filter((each) => !isAllowed(each) && isServerName(each.name)).slice(0, MOST_SHOWN),
  ];
  const howToAllow = `Review it, then run: ${variant.program ?? 'switchboard'} allow ${shellWord(directory)}`;
  const suiteFiles = filesOf(layers, 'suites');
  const secrets = await secretsFor(
    [layers.map(({ config: each }) => each), candidates.filter(isAllowed)],
    env,
  );
  const { servers, disabled, disabledAt, unusable, order } = resolveServers(candidates, {
    settings,
    suiteFiles,
    env,
    secrets,
    descriptions: readDescriptions(layers, warn),
    howToAllow,
    ourScript: options.ourScript ?? process.argv[1],
    warn,
    warnings,
  });
  const notAllowed = notAllowedIn(first, read, unusable);
  if (notAllowed !== undefined) {
    const message = `this project is not allowed yet, so its files have no effect. ${howToAllow}`;
    warn({ file: directory, message, level: 'warn' });
  }
  const defined = new Set(candidates.map((candidate) => candidate.name));
  for (const layer of layers) warnAboutUnusedSuites(layer, settings, defined, warn);
  const known = { servers, disabled, defined };
  const compounds = resolveCompounds(config.tools ?? {}, filesOf(layers, 'tools'), known, warn);
  warnAboutNameClashes(servers, compounds, warn);
  return {
    ...{ file: files[0]?.path, files, directory },
    search: found.userDirectory === undefined ? undefined : { cwd: resolve(cwd), userDirectory },
    ...{ settings, suiteFiles },
    ...hooksIn(layers),
    ...(secrets === NO_SECRETS ? {} : { secrets }),
    logDirectory: logDirectoryOf(layers, env, secrets, warn),
    writtenHttpToken: writtenIn(layers, ({ http }) => http?.token),
    writtenStore: writtenIn(layers, ({ store }) => store),
    ...{ servers, disabled, disabledAt, unusable, order, notAllowed, openApproval, compounds, warnings },
  };
}

/**
 * The secrets that these values refer to. The code that reads them is loaded only if there are any, and nobody is asked
 * for the secrets of a project that is not allowed.
 */
export async function secretsFor(values: unknown, env: Environment): Promise<Secrets> {
  const names = secretReferences(values);
  if (names.length === 0) return NO_SECRETS;
  const { SecretStore } = await import('../secrets/index.ts');
  return new SecretStore(env).values(names);
}

/** How many servers of a project that is not allowed yet are shown. */
const MOST_SHOWN = 50;

function isAllowed({ notAllowed }: ServerCandidate): boolean {
  return notAllowed !== true;
}

/**
 * What there is to allow. A file from which nothing would be used, such as one that only starts us, needs no approval.
 */
function notAllowedIn(
  { approval, directory, file }: Layer,
  candidates: readonly ServerCandidate[],
  unusable: readonly UnusableServer[],
): NotAllowed | undefined {
  const own = new Set(candidates.filter(isAllowed).map(({ name }) => name));
  const replaces = ({ name }: ServerCandidate): boolean => own.has(name);
  const waiting = candidates.filter((each) => !isAllowed(each));
  const used = new Set([
    ...unusable.filter((server) => server.notAllowed).map(({ origin }) => origin.file),
    ...waiting.filter(replaces).map((each) => each.file),
  ]);
  const files = (approval?.notAllowed ?? []).filter(
    ({ path }) => path === file || used.has(path) || basename(path) === DESCRIPTIONS_FILE,
  );
  if (files.length === 0) return undefined;
  // All of it, however long: an approval covers the whole file.
  const ofFiles = waiting.filter((each) => files.some(({ path }) => path === each.file));
  const runs = ofFiles.map(
    (each) => `${describeLaunch(each)}${replaces(each) ? ', instead of your own' : ''}`,
  );
  const builtins = ofFiles.flatMap(({ definition, directory: from }) =>
    definition.kind === 'builtin' ? [{ directory: from, project: definition.server.project }] : [],
  );
  const configured = files.find(({ path }) => path === file);
  return { directory, files, runs: [...runs, ...describeSettings(configured?.path)], builtins };
}

/** The hooks of the project come first, so that they cannot undo what the user's own hooks do. */
function hooksIn(layers: readonly Layer[]): Pick<LoadedConfig, 'hooks'> {
  const hooks = layers.flatMap((layer) => layer.hooks ?? []);
  return hooks.length === 0 ? {} : { hooks };
}

/** Which file each entry of a map comes from. */
function filesOf(layers: readonly Layer[], key: 'suites' | 'tools'): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const { file, config } of layers)
    for (const name of Object.keys(config[key] ?? {})) if (!files.has(name)) files.set(name, file ?? '');
  return files;
}

/** A text of the configuration, from the file with the highest precedence that sets it. */
function writtenIn(
  layers: readonly Layer[],
  read: (config: Layer['config']) => string | undefined,
): LoadedConfig['writtenHttpToken'] {
  for (const { config, file = '' } of layers) {
    const text = read(config);
    if (text !== undefined) return { text, file };
  }
  return undefined;
}

/** Settings for an undefined server are probably a typo in the name. */
function warnAboutUnusedSuites(
  { scope, file, config }: Layer,
  { management }: Settings,
  names: ReadonlySet<string>,
  warn: Warn,
): void {
  for (const name of Object.keys(config.suites ?? {})) {
    if (names.has(name)) continue;
    const guess = didYouMean(name, names);
    const message = `unknown server.${guess === undefined ? '' : ` ${guess}`}`;
    // A server added at run time may have this name, and the user's settings may be about servers of other projects.
    const level = management.enabled || scope === 'user' ? 'info' : 'warn';
    warn({ file: file ?? '', key: keyPath(['suites', name]), message, level });
  }
}

function logDirectoryOf(
  layers: readonly Layer[],
  env: Environment,
  secrets: Secrets,
  warn: Warn,
): string | undefined {
  const layer = layers.find(({ config }) => config.logDirectory !== undefined);
  const written = layer?.config.logDirectory;
  if (layer?.file === undefined || written === undefined) return undefined;
  const result = interpolate(written, env, secrets);
  if (result.kind === 'text') {
    // `${LOGS:-}` lets the environment decide whether there is a log file.
    return result.text === '' ? undefined : resolve(dirname(layer.file), result.text);
  }
  const message = `${interpolationProblem(result)}; no log file is written`;
  warn({ file: layer.file, key: 'logDirectory', message, level: 'warn' });
  return undefined;
}
