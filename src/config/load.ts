import { dirname, resolve } from 'node:path';
import { didYouMean } from '../shared/nearest.ts';
import { ownCandidates, type Candidate, type Warn } from './candidate.ts';
import { checkConfig, invalidConfig } from './check.ts';
import { resolveCompounds, type CompoundDefinition } from './compound.ts';
import type { ServerDefinition } from './definition.ts';
import { readDescriptions } from './descriptions.ts';
import { discover } from './discover.ts';
import { SWITCHBOARD, type Face } from './face.ts';
import { findConfig } from './find.ts';
import { interpolate, whyNotFilled, type Environment } from './interpolate.ts';
import { keyPath, withConsequence, type ConfigWarning } from './problem.ts';
import { readConfigFile } from './read.ts';
import { resolveServers } from './resolve.ts';
import type { ConfigInput } from './schema/config.ts';
import { applyDefaults, type Settings } from './settings.ts';

export interface LoadConfigOptions {
  /** Where to look for a configuration file, and what `configPath` is relative to. */
  readonly cwd: string;
  /** The file to use. Default: the face's, for `switchboard` the first `switchboard.config.*` in `cwd`, or none. */
  readonly configPath?: string | undefined;
  /** What `${NAME}` is filled in from. */
  readonly env: Environment;
  /** The script that runs now; an entry that starts it is left out. Default `process.argv[1]`. */
  readonly ourScript?: string | undefined;
  /** The program we are started as. Default `switchboard`. */
  readonly face?: Face | undefined;
}

export interface LoadedConfig {
  /** The configuration file, absolute; undefined when there is none. */
  readonly file: string | undefined;
  /** What relative paths of the configuration are relative to: the file's directory, else `cwd`. */
  readonly directory: string;
  readonly settings: Settings;
  /** Where log lines are written to a file as well, absolute; undefined: nowhere. */
  readonly logDirectory: string | undefined;
  /** `http.token` as it was written; httpTokenOf fills it in. Never to be shown. */
  readonly writtenHttpToken: string | undefined;
  /** In the order of precedence: the configuration, then what the patterns find, then the root `.mcp.json`. */
  readonly servers: readonly ServerDefinition[];
  /** Names of servers that are turned off. */
  readonly disabled: readonly string[];
  /** Names of servers that are defined but cannot be used as they are written; a warning says why. */
  readonly unusable: readonly string[];
  /** Tools made of tools of several servers, in the order written. */
  readonly compounds: readonly CompoundDefinition[];
  /** What was skipped or ignored, and why. Never holds a value of the environment. */
  readonly warnings: readonly ConfigWarning[];
}

/**
 * Reads the configuration and finds all servers. Throws a SwitchboardError when the configuration itself is wrong
 * (CONFIG_NOT_FOUND, CONFIG_UNREADABLE, CONFIG_INVALID); a single bad server is skipped with a warning.
 */
export async function loadConfig(options: LoadConfigOptions): Promise<LoadedConfig> {
  const { cwd, configPath, env, face = SWITCHBOARD } = options;
  const warnings: ConfigWarning[] = [];
  const warn: Warn = (warning) => void warnings.push(warning);
  const { file, unused } = findConfig(cwd, configPath, face);
  for (const other of unused) {
    warn({ file: other, message: `is not used, because ${file ?? ''} is there too`, level: 'warn' });
  }
  const directory = file === undefined ? resolve(cwd) : dirname(file);
  const { config, candidates: own } = file === undefined ? NOTHING : await readOwn(file, face, warn);
  const settings = applyDefaults(config, face);
  const found = await discover(directory, {
    globs: settings.discoverGlobs,
    rootFile: face.discovers !== false,
    warn,
  });
  const candidates = [...own, ...found];
  const { servers, disabled, unusable } = resolveServers(candidates, {
    settings,
    file,
    env,
    descriptions: readDescriptions(directory, warn),
    ourScript: options.ourScript ?? process.argv[1],
    warn,
  });
  const defined = new Set(candidates.map((candidate) => candidate.name));
  if (file !== undefined) warnAboutUnusedSuites(file, settings, defined, warn);
  const known = { servers, disabled, defined };
  const compounds = file === undefined ? [] : resolveCompounds(file, config.tools ?? {}, known, warn);
  const logDirectory = file === undefined ? undefined : logDirectoryOf(file, config, env, warn);
  return {
    ...{ file, directory, settings, logDirectory, writtenHttpToken: config.http?.token },
    ...{ servers, disabled, unusable, compounds, warnings },
  };
}

interface OwnConfig {
  readonly config: ConfigInput;
  readonly candidates: readonly Candidate[];
}

const NOTHING: OwnConfig = { config: {}, candidates: [] };

async function readOwn(file: string, face: Face, warn: Warn): Promise<OwnConfig> {
  const value = await readConfigFile(file);
  const { fatal, byServer } = await checkConfig(value, face);
  const inServers = [...byServer.values()].flat();
  if (fatal.length > 0) throw invalidConfig(file, [...fatal, ...inServers]);
  for (const [server, problems] of byServer) {
    for (const { path, message: why } of problems) {
      const message = withConsequence(why, 'the server is skipped');
      warn({ file, key: keyPath(path), message, level: 'warn', server });
    }
  }
  // Checked: what is left wrong is confined to the servers in `byServer`, which are not looked into.
  const config = value as ConfigInput;
  return { config, candidates: ownCandidates(file, config.mcpServers ?? {}, new Set(byServer.keys())) };
}

/** Settings for a server that nobody defines are most likely a slip in the name. */
function warnAboutUnusedSuites(
  file: string,
  settings: Settings,
  names: ReadonlySet<string>,
  warn: Warn,
): void {
  for (const name of Object.keys(settings.suites)) {
    if (names.has(name)) continue;
    const guess = didYouMean(name, names);
    const message = `there is no server of this name.${guess === undefined ? '' : ` ${guess}`}`;
    // Where servers come while we run, theirs may be the name.
    const level = settings.management.enabled ? 'info' : 'warn';
    warn({ file, key: keyPath(['suites', name]), message, level });
  }
}

function logDirectoryOf(
  file: string,
  { logDirectory }: ConfigInput,
  env: Environment,
  warn: Warn,
): string | undefined {
  if (logDirectory === undefined) return undefined;
  const result = interpolate(logDirectory, env);
  if (result.kind === 'text') {
    // As with ${LOGS:-}, which leaves it to the environment whether there is a log file.
    return result.text === '' ? undefined : resolve(dirname(file), result.text);
  }
  const message = `${whyNotFilled(result)}; no log file is written`;
  warn({ file, key: 'logDirectory', message, level: 'warn' });
  return undefined;
}
