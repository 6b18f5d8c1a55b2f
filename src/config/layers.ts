import { basename, dirname, resolve } from 'node:path';
import { SwitchboardError } from '../shared/errors.ts';
import { isObject } from '../shared/is-object.ts';
import { checkedCandidates, mapCandidates, type ServerCandidate, type Warn } from './candidate.ts';
import { allProblems, checkConfig, invalidConfig } from './check.ts';
import { discover } from './discover.ts';
import type { ProgramVariant } from './program-variant.ts';
import type { ConfigFile, ConfigScope, FoundConfig } from './find.ts';
import { keyPath, type ConfigWarning } from './problem.ts';
import { ProjectApproval } from './project-approval.ts';
import { isModule, readConfigFile, readHooks, readJsonFile, type HookModule } from './read.ts';
import type { ConfigInput } from './schema/config.ts';
import { globsOf } from './settings.ts';

/** One part of the configuration: the content of a file, and what was discovered in its directory. */
export interface Layer {
  readonly scope: ConfigScope;
  /** Undefined for a project without a configuration file. */
  readonly file: string | undefined;
  /** What its relative paths are relative to. */
  readonly directory: string;
  readonly config: ConfigInput;
  /** The functions that it exports to see every call. Default: none. */
  readonly hooks?: HookModule | undefined;
  /** Its servers: those of the file, followed by those that were discovered. */
  readonly candidates: readonly ServerCandidate[];
  /** Which of its files may be used. Default: all. */
  readonly approval?: ProjectApproval | undefined;
}

export interface ReadLayersOptions {
  /** The project, if no file determines it. */
  readonly cwd: string;
  readonly variant: ProgramVariant;
  /** Whether an unusable file is an error even if another one is usable. */
  readonly strict: boolean;
  /** Whether an unusable file is left out even if there is no other one. */
  readonly keepGoing: boolean;
  /** Whether a project's files are used without approval. Default: as set in the environment. */
  readonly allowProject?: boolean | undefined;
  readonly warn: Warn;
}

export interface ReadLayers {
  /** The first layer takes precedence. */
  readonly layers: readonly [Layer, ...Layer[]];
  /**
   * The content of the user file, even if the project leaves it out: some of it protects the user. Undefined if there
   * is none.
   */
  readonly user: ConfigInput | undefined;
  /** The files that were read, including those that could not be used. */
  readonly files: readonly ConfigFile[];
  /** As in FoundConfig. */
  readonly userDirectory: string | undefined;
  /** Returns which projects' files are allowed at that time. */
  readonly openApproval: () => ProjectApproval;
}

/**
 * Reads the project file, or the file that was named, and then the user file. One that is unusable is left out with a
 * warning if the other one is usable: a typo in one file must not cost the servers of both.
 */
export async function readLayers(found: FoundConfig, options: ReadLayersOptions): Promise<ReadLayers> {
  const userFile = found.files.find(({ scope }) => scope === 'user');
  const projectFile = found.files.find((file) => file !== userFile);
  // Read first, because it may allow the project; reported later, because the project may leave it out.
  const ofUser: ConfigWarning[] = [];
  const user =
    userFile && (await readLayer(userFile, { ...options, warn: (each) => void ofUser.push(each) }));
  const patterns = user?.config.allowProjects ?? [];
  const isFound = (projectFile?.scope ?? 'project') === 'project';
  const approval = isFound ? new ProjectApproval({ ...options, patterns }) : undefined;
  const openApproval = (): ProjectApproval => new ProjectApproval({ ...options, patterns });
  const project = await readLayer(projectFile, options, approval);
  warnAboutForeignKeys(project, ['allowProjects'], options.warn);
  if (user === undefined || userFile === undefined || project.config.extends === false) {
    if (project.error !== undefined) {
      if (!options.keepGoing) throw project.error;
      warnAboutLeftOut(project, options.warn);
    }
    const leftOut = project.error === undefined ? {} : { leftOut: true };
    const files = projectFile === undefined ? [] : [{ ...projectFile, ...leftOut }];
    const userDirectory = project.config.extends === false ? undefined : found.userDirectory;
    return { layers: [project], user: user?.config, files, userDirectory, openApproval };
  }
  ofUser.forEach(options.warn);
  warnAboutForeignKeys(user, ['extends'], options.warn);
  const broken = [project, user].filter(({ error }) => error !== undefined);
  const othersUsable = projectFile !== undefined && broken.length === 1 && !options.strict;
  if (broken[0]?.error !== undefined && !othersUsable && !options.keepGoing) throw broken[0].error;
  for (const layer of broken) warnAboutLeftOut(layer, options.warn);
  const files = found.files.map((file) =>
    broken.some((layer) => layer.file === file.path) ? { ...file, leftOut: true } : file,
  );
  const layers = [project, startingIn(project.directory, user)] as const;
  return { layers, user: user.config, files, userDirectory: found.userDirectory, openApproval };
}

interface ReadLayer extends Layer {
  /** Why nothing of it is used. */
  readonly error?: SwitchboardError;
}

async function readLayer(
  found: ConfigFile | undefined,
  options: ReadLayersOptions,
  approval?: ProjectApproval,
): Promise<ReadLayer> {
  const { cwd, variant, warn } = options;
  const scope = found?.scope ?? 'project';
  const file = found?.path;
  const directory = file === undefined ? resolve(cwd) : dirname(file);
  const base = { scope, file, directory, approval };
  try {
    const { config, own, hooks } =
      file === undefined
        ? NO_FILE
        : approval === undefined || approval.allows(file)
          ? await readFile(file, options)
          : { ...NO_FILE, own: await namesIn(file) };
    // No other program searches for a .mcp.json in the directory of the user file.
    const rootFile = variant.discovers !== false && scope !== 'user';
    const discovered = await discover(directory, {
      globs: globsOf(config, variant),
      rootFile,
      warn,
      approval,
    });
    const candidates = [...own, ...discovered].map((candidate) => ({ ...candidate, scope }));
    return { ...base, config, candidates, hooks };
  } catch (error) {
    if (!(error instanceof SwitchboardError)) throw error;
    return { ...base, config: {}, candidates: [], error };
  }
}

interface FileContent {
  readonly config: ConfigInput;
  readonly own: readonly ServerCandidate[];
  readonly hooks?: HookModule | undefined;
}

const NO_FILE: FileContent = { config: {}, own: [] };

async function readFile(file: string, { variant, warn }: ReadLayersOptions): Promise<FileContent> {
  const checked = await checkConfig(await readConfigFile(file, warn), variant);
  if (checked.fatal.length > 0) throw invalidConfig(file, allProblems(checked));
  for (const { path, message, level } of checked.notes) warn({ file, key: keyPath(path), message, level });
  return {
    config: checked.config,
    own: checkedCandidates(file, checked.servers, warn),
    hooks: await readHooks(file),
  };
}

/** The servers of a file that is not allowed yet. A JavaScript file is not run; it is listed instead of its servers. */
async function namesIn(file: string): Promise<ServerCandidate[]> {
  const here = { file, directory: dirname(file), notAllowed: true };
  if (isModule(file)) return [{ ...here, name: basename(file), path: [], definition: { kind: 'unusable' } }];
  try {
    const value = readJsonFile(file);
    const map = isObject(value) ? value.mcpServers : undefined;
    const found = isObject(map) ? await mapCandidates(file, map, () => undefined) : [];
    return found.map((candidate) => ({ ...candidate, ...here }));
  } catch {
    // Nothing of it is used; its problems are reported once it is allowed.
    return [];
  }
}

/** Warns about keys that only have a meaning in the other file. */
function warnAboutForeignKeys(
  { file, scope, config }: Layer,
  keys: readonly ('extends' | 'allowProjects')[],
  warn: Warn,
): void {
  const why =
    scope === 'user'
      ? 'only a project file can exclude the user file'
      : 'only the user file can allow projects';
  for (const key of keys)
    if (config[key] !== undefined && file !== undefined && scope !== 'explicit')
      warn({ file, key, message: `is ignored here: ${why}`, level: 'warn' });
}

/** Starts the user's servers in the working directory, as hosts do, unless their definition says otherwise. */
function startingIn(directory: string, layer: ReadLayer): ReadLayer {
  const candidates = layer.candidates.map((candidate) =>
    candidate.file === layer.file ? { ...candidate, startIn: directory } : candidate,
  );
  return { ...layer, candidates };
}

function warnAboutLeftOut({ file = '', error }: ReadLayer, warn: Warn): void {
  if (error === undefined) return;
  // Each line already names the file.
  for (const message of error.message.split('\n')) warn({ message, level: 'warn' });
  const message = 'is ignored until it is corrected: its servers and settings are missing';
  warn({ file, message, level: 'warn' });
}

/**
 * The combined content of all layers, except servers and globs. The first layer takes precedence, for each member of
 * groups and maps.
 */
export function mergeConfigs(layers: readonly Layer[], user: ConfigInput | undefined): ConfigInput {
  const config = layers
    .map(({ config }) => config)
    .reduceRight<ConfigInput>((below, above) => {
      const merged: Record<string, unknown> = { ...below, ...above };
      for (const key of MERGED) if (below[key] && above[key]) merged[key] = { ...below[key], ...above[key] };
      return merged;
    }, {});
  // A project decides neither whether its user's calls are recorded nor what other clients may do.
  const { audit, roles, http } = user ?? {};
  return {
    ...config,
    ...(audit === undefined ? {} : { audit }),
    ...(roles === undefined ? {} : { roles }),
    ...(http?.oauth === undefined ? {} : { http: { ...config.http, oauth: http.oauth } }),
  };
}

const MERGED = [
  'suites',
  'suite',
  'tools',
  'http',
  'replica',
  'instructions',
  'timeouts',
  'introspection',
  'code',
  'limits',
] as const;
