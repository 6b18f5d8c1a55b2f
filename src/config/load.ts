import { dirname, resolve } from 'node:path';
import { SwitchboardError } from '../shared/errors.ts';
import { didYouMean } from '../shared/nearest.ts';
import { ownCandidates, type Candidate } from './candidate.ts';
import { discover } from './discover.ts';
import { findConfig } from './find.ts';
import type { Environment } from './interpolate.ts';
import { describeWarning, keyPath, type ConfigWarning, type Problem } from './problem.ts';
import { readConfigFile } from './read.ts';
import { resolveServers, type ServerDefinition } from './resolve.ts';
import type { ConfigInput } from './schema/config.ts';
import { isConfig } from './schema/quick-check.generated.js';
import { applyDefaults, type Settings } from './settings.ts';

export interface LoadConfigOptions {
  /** Where to look for a configuration file, and what `configPath` is relative to. */
  readonly cwd: string;
  /** The file to use. Default: the first `switchboard.config.*` in `cwd`, or none. */
  readonly configPath?: string | undefined;
  /** What `${NAME}` is filled in from. */
  readonly env: Environment;
  /** The script that runs now; an entry that starts it is left out. Default `process.argv[1]`. */
  readonly ourScript?: string | undefined;
}

export interface LoadedConfig {
  /** The configuration file, absolute; undefined when there is none. */
  readonly file: string | undefined;
  /** What relative paths of the configuration are relative to: the file's directory, else `cwd`. */
  readonly directory: string;
  readonly settings: Settings;
  /** In the order of precedence: the configuration, then what the patterns find, then the root `.mcp.json`. */
  readonly servers: readonly ServerDefinition[];
  /** Names of servers that are turned off. */
  readonly disabled: readonly string[];
  /** What was skipped or ignored, and why. Never holds a value of the environment. */
  readonly warnings: readonly ConfigWarning[];
}

/**
 * Reads the configuration and finds all servers. Throws a SwitchboardError when the configuration itself is wrong
 * (CONFIG_NOT_FOUND, CONFIG_UNREADABLE, CONFIG_INVALID); a single bad server is skipped with a warning.
 */
export async function loadConfig(options: LoadConfigOptions): Promise<LoadedConfig> {
  const warnings: ConfigWarning[] = [];
  const warn = (warning: ConfigWarning): void => void warnings.push(warning);
  const { file, unused } = findConfig(options.cwd, options.configPath);
  for (const other of unused) {
    warn({ file: other, message: `is not used, because ${file ?? ''} is there too`, level: 'warn' });
  }
  const directory = file === undefined ? resolve(options.cwd) : dirname(file);
  const own = file === undefined ? NOTHING : await readOwn(file, warn);
  const settings = applyDefaults(own.config);
  const candidates = [...own.candidates, ...(await discover(directory, settings.discoverGlobs, warn))];
  const { servers, disabled } = resolveServers(candidates, {
    settings,
    env: options.env,
    ourScript: options.ourScript ?? process.argv[1],
    warn,
  });
  if (file !== undefined) warnAboutUnusedSuites(file, settings, candidates, warn);
  return { file, directory, settings, servers, disabled, warnings };
}

interface OwnConfig {
  readonly config: ConfigInput;
  readonly candidates: readonly Candidate[];
}

const NOTHING: OwnConfig = { config: {}, candidates: [] };

async function readOwn(file: string, warn: (warning: ConfigWarning) => void): Promise<OwnConfig> {
  const value = await readConfigFile(file);
  const unusable = new Set<string>();
  if (!isConfig(value)) {
    // Only now, because it loads the schema library.
    const { explainConfig } = await import('./explain.ts');
    const { fatal, byServer } = explainConfig(value);
    if (fatal.length > 0 || byServer.size === 0)
      throw invalid(file, [...fatal, ...[...byServer.values()].flat()]);
    for (const [name, problems] of byServer) {
      unusable.add(name);
      for (const { path, message } of problems) {
        warn({ file, key: keyPath(path), message: `${message}; the server is skipped`, level: 'warn' });
      }
    }
  }
  // Checked: what is left wrong is confined to the servers in `unusable`, which are not looked into.
  const config = value as ConfigInput;
  return { config, candidates: ownCandidates(file, config.mcpServers ?? {}, unusable) };
}

function invalid(file: string, problems: readonly Problem[]): SwitchboardError {
  const lines = problems.map(({ path, message }) => describeWarning({ file, key: keyPath(path), message }));
  if (lines.length === 0) lines.push(describeWarning({ file, message: 'is not a valid configuration.' }));
  return new SwitchboardError('CONFIG_INVALID', lines.join('\n'), {
    hint: 'Correct the configuration and start again.',
  });
}

/** Settings for a server that nobody defines are most likely a slip in the name. */
function warnAboutUnusedSuites(
  file: string,
  settings: Settings,
  candidates: readonly Candidate[],
  warn: (warning: ConfigWarning) => void,
): void {
  const names = new Set(candidates.map((candidate) => candidate.name));
  for (const name of Object.keys(settings.suites)) {
    if (names.has(name)) continue;
    const guess = didYouMean(name, names);
    const message = `there is no server of this name.${guess === undefined ? '' : ` ${guess}`}`;
    warn({ file, key: keyPath(['suites', name]), message, level: 'warn' });
  }
}
