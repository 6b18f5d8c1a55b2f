import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { SwitchboardError } from '../shared/errors.ts';
import { isObject } from '../shared/is-object.ts';
import { childCandidate, mapCandidates, type Warn } from './candidate.ts';
import type { Environment } from './interpolate.ts';
import { loadConfig, secretsFor, type LoadedConfig } from './load.ts';
import { describeWarning, type ConfigWarning } from './problem.ts';
import { ProjectApproval } from './project-approval.ts';
import { readJsonFile } from './read.ts';
import { resolveServers } from './resolve.ts';
import type { StdioServer } from './schema/config.ts';
import { applyDefaults, type Settings } from './settings.ts';

export interface LoadWrappedOptions {
  /** The folder that `switchboard wrap` has changed. */
  readonly folder: string;
  /** The language model in front of the server. Paths are relative to the folder. */
  readonly language: Exclude<StdioServer['language'], boolean | undefined>;
  /** A configuration whose time limits and other settings apply to the server, too. Default: none. */
  readonly configPath?: string | undefined;
  /** The environment that `${NAME}` is filled in from. */
  readonly env: Environment;
}

/**
 * The configuration of one wrapped server, with its original definition, relative to its original folder. Throws a
 * SwitchboardError if it cannot be used (CONFIG_UNREADABLE, SERVER_UNUSABLE).
 */
export async function loadWrapped(options: LoadWrappedOptions): Promise<LoadedConfig> {
  const { env, language } = options;
  const folder = resolve(options.folder);
  const file = join(folder, 'original', '.mcp.json');
  const warnings: ConfigWarning[] = [];
  const warn: Warn = (warning) => void warnings.push(warning);
  const settings = await settingsOf(options);
  const found = await candidatesIn(file, language, warn);
  const candidates = found.map((candidate) => ({ ...candidate, directory: folder }));
  const secrets = await secretsFor(candidates, env);
  const resolved = resolveServers(candidates, {
    ...{ settings, suiteFiles: new Map<string, string>(), env, secrets, warn, warnings },
    ourScript: process.argv[1],
  });
  const [server] = resolved.servers;
  if (server === undefined || candidates.length !== 1) throw unusable(file, warnings);
  return {
    ...{ file: undefined, files: [], directory: folder, search: undefined },
    ...{ settings, suiteFiles: new Map(), logDirectory: undefined, writtenHttpToken: undefined },
    // It is the only server, so it is exposed as it is. Only its tools: listing anything else would require starting
    // it.
    servers: [{ ...server, exposure: 'flat', naming: 'own', offer: ['tools'] }],
    ...{ disabled: [], unusable: [], order: [], notAllowed: undefined, compounds: [], warnings },
    openApproval: () => new ProjectApproval({ patterns: [] }),
  };
}

/** Whether a configuration has settings that apply to a wrapped server, which knows them only from that file. */
export function concernsWrapped({ timeouts, limits, inheritEnv }: Settings): boolean {
  const usual = applyDefaults({});
  return !isDeepStrictEqual([timeouts, limits, inheritEnv], [usual.timeouts, usual.limits, usual.inheritEnv]);
}

async function settingsOf({ configPath, folder, env }: LoadWrappedOptions): Promise<Settings> {
  if (configPath === undefined) return applyDefaults({});
  const { settings } = await loadConfig({ cwd: folder, configPath, env });
  // Only its own program can add servers.
  return { ...settings, management: applyDefaults({}).management };
}

async function candidatesIn(file: string, language: LoadWrappedOptions['language'], warn: Warn) {
  const value = readJsonFile(file);
  if (isObject(value) && isObject(value.mcpServers)) {
    const entries = Object.entries(value.mcpServers).map(
      ([name, entry]) => [name, isObject(entry) ? { ...entry, language } : entry] as const,
    );
    return mapCandidates(file, Object.fromEntries(entries), warn);
  }
  const candidate = await childCandidate(file, isObject(value) ? { ...value, language } : value, warn);
  return candidate === undefined ? [] : [candidate];
}

function unusable(file: string, warnings: readonly ConfigWarning[]): SwitchboardError {
  const reasons = warnings.filter(({ level }) => level === 'warn').map(describeWarning);
  const why = reasons.length === 0 ? ': it must define one server.' : `:\n${reasons.join('\n')}`;
  return new SwitchboardError('SERVER_UNUSABLE', `Invalid server definition in ${file}${why}`, {
    hint: 'Correct it, or set the missing variable.',
  });
}
