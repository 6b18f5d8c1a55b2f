import { resolve } from 'node:path';
import type { LoadedConfig } from '../../../../config/index.ts';
import {
  HOSTS,
  readServers,
  takeOver,
  type Entry,
  type Host,
  type HostServer,
  type Scope,
  type HostEnvironment,
  type TakeoverResult,
  hostEnvironment,
} from '../../../../hosts/index.ts';
import { SecretStore } from '../../../../secrets/index.ts';
import { expectedError, type SwitchboardError } from '../../../../shared/errors.ts';
import { stateDirectory } from '../../../../shared/paths.ts';
import { usage, type Flag, type ParsedArguments } from '../../../kit/arguments.ts';
import type { Context } from '../../command.ts';
import { isOurs, ourProgram, passedVariables, referencesIn, variablesIn } from '../host-entries.ts';
import { hostsIn, nameIn, scopeIn } from '../host-flags.ts';
import { applyPlans, type AppliedPlans } from './apply-plans.ts';
import {
  levelOf,
  planConfigImport,
  type ConfigImport,
  type ConfigImportOptions,
  type Level,
} from './import-config.ts';
import { type PlannedServer, neededVariables, type VariableState } from './import-plan.ts';
import { planTakeover, type FileTakeover } from './takeover-plan.ts';

/** A prepared import that has changed nothing yet. */
export interface ImportJob {
  readonly config: LoadedConfig;
  /** Everything that was found, in the order of the hosts. */
  readonly servers: readonly PlannedServer[];
  /** The planned changes of our own files. */
  readonly configs: readonly ConfigImport[];
  /** The planned changes of the hosts' files. */
  readonly takeovers: readonly HostTakeover[];
  /** Shared files that a takeover leaves as they are. */
  readonly spared: readonly string[];
  readonly variables: readonly VariableState[];
  /** Why files of hosts were skipped. */
  readonly problems: readonly SwitchboardError[];
  apply(): Promise<ImportDone>;
}

export interface HostTakeover {
  readonly parts: FileTakeover;
  readonly change: TakeoverResult;
  write(): Promise<TakeoverResult>;
}

export type ImportDone = AppliedPlans<ConfigImport, HostTakeover, TakeoverResult>;

export async function prepareImport(given: ParsedArguments, context: Context): Promise<ImportJob> {
  const { flags } = given;
  const where = hostEnvironment(context);
  const { servers, ours, problems } = gather(given, where);
  const config = await context.loadConfig('quietly');
  const explicit = given.flags.get('config');
  const takesOver = flags.has('takeover');
  const options = {
    where,
    elsewhere: discovered(config),
    ...secretOptions(secretsIn(given), context),
    takesOver,
    explicit: explicit === undefined ? undefined : resolve(context.cwd, explicit),
    variant: context.variant.configVariant,
  };
  const level = levelIn(given);
  // A shared file changes only on request, and only if our own file gives its users the servers back.
  const asksForShared = scopeIn(given) === 'project' && level !== 'user';
  const configs: ConfigImport[] = [];
  for (const each of ['user', 'project', 'explicit'] as const) {
    const belonging = servers.filter((server) => (level ?? levelOf(server)) === each);
    // Servers that stay in a project file that we read anyway need not be copied.
    const leaves = takesOver && (each !== 'project' || asksForShared);
    if (belonging.length > 0)
      configs.push(await planConfigImport(each, belonging, { ...options, takesOver: leaves }));
  }
  const plans = configs.flatMap((each) => each.planned);
  const planned = servers.flatMap((server) => plans.find((each) => each.server === server) ?? []);
  const entryFor = entryMaker(config, configs, context, options.explicit);
  if (takesOver && level === 'project' && scopeIn(given) !== 'project')
    throw usage(
      'With --takeover and --project, your own servers would be missing in your other projects.',
      'Omit --project, or add --scope project to take over only the files of this project.',
    );
  const name = nameIn(given);
  const taken = takesOver ? planned : [];
  const isSpared = ({ server }: PlannedServer): boolean =>
    server.location.scope === 'project' && !asksForShared;
  const moved = taken.filter((each) => !isSpared(each));
  const take = (parts: FileTakeover, dryRun: boolean): Promise<TakeoverResult> =>
    takeOver({ parts, name, isOurs, stateDirectory: stateDirectory(context.env), dryRun });
  const takeovers: HostTakeover[] = [];
  for (const parts of planTakeover({ planned: moved, ours, name, entryFor }))
    takeovers.push({ parts, change: await take(parts, true), write: () => take(parts, false) });
  return {
    config,
    servers: planned,
    configs,
    takeovers,
    spared: [...new Set(taken.filter(isSpared).map(({ server }) => server.location.file))],
    variables: neededVariables(planned, context.env),
    problems,
    apply: () => applyPlans(configs, takeovers),
  };
}

/** Creates our entry for a host, which passes on every variable that the servers need after the import. */
export function entryMaker(
  config: LoadedConfig,
  configs: readonly ConfigImport[],
  context: Context,
  explicit: string | undefined,
): (host: Host, scope: Scope) => Entry {
  return (host, scope) => {
    const read = configs.filter((each) => scope === 'user' || each.level !== 'user');
    const variables = [
      ...variablesIn(config, context.env, scope),
      ...read.flatMap(({ edited }) => referencesIn(edited.after)),
      // Codex names variables that our configuration does not have to refer to.
      ...read.flatMap((each) => each.planned).flatMap((each) => each.variables.map((needed) => needed.name)),
    ];
    return ourProgram(host, { file: explicit, variables: passedVariables(variables), scope }, context);
  };
}

interface Gathered {
  readonly servers: readonly HostServer[];
  readonly ours: readonly HostServer[];
  readonly problems: readonly SwitchboardError[];
}

function gather(given: ParsedArguments, where: HostEnvironment): Gathered {
  const named = hostsIn(given);
  const scope = scopeIn(given);
  const only = given.lists.get('only');
  const problems: SwitchboardError[] = [];
  const found = (named.length > 0 ? named : HOSTS).flatMap((host) => {
    try {
      return readServers(host, where, scope);
    } catch (error) {
      // A host that was not named may be broken.
      if (named.length > 0) throw error;
      problems.push(expectedError(error));
      return [];
    }
  });
  const unknown = only?.find((name) => !found.some((server) => server.name === name));
  if (unknown !== undefined)
    throw usage(`No host has a server named ${JSON.stringify(unknown)}.`, 'Omit --only to list them.');
  const others = found.filter(({ value }) => !isOurs(value));
  return {
    servers: only === undefined ? others : others.filter(({ name }) => only.includes(name)),
    ours: found.filter(({ value }) => isOurs(value)),
    problems,
  };
}

/** The level for everything, if a flag sets it; undefined: each server goes where its host's file belongs. */
export function levelIn({ flags }: ParsedArguments): Level | undefined {
  return (
    (['user', 'project'] as const).find((each) => flags.has(each)) ??
    (flags.has('config') ? 'explicit' : undefined)
  );
}

/** How secrets in the user file are handled. */
export const SECRETS_FLAG: Flag = {
  name: 'secrets',
  value: 'keep|env|store',
  summary: 'secrets: keep (default), refer to environment variables that you set, or store with `$0 secret`',
};

type SecretsMode = 'keep' | 'env' | 'store';

/** The value of the flag. */
export function secretsIn({ flags }: ParsedArguments): SecretsMode {
  const how = flags.get('secrets') ?? 'keep';
  if (how === 'keep' || how === 'env' || how === 'store') return how;
  throw usage(
    `--secrets takes "keep", "env" or "store", not ${JSON.stringify(how)}.`,
    'With "env", secrets become references to environment variables; with "store", to secrets in the keychain.',
  );
}

/** The same for planning an import. */
export function secretOptions(
  mode: SecretsMode,
  { env, stop }: Pick<Context, 'env' | 'stop'>,
): Pick<ConfigImportOptions, 'hidesSecrets' | 'secretStore' | 'signal'> {
  return {
    hidesSecrets: mode !== 'keep',
    secretStore: mode === 'store' ? new SecretStore(env) : undefined,
    signal: stop,
  };
}

/** The discovered servers, each with its file. */
export function discovered({ files, servers, unusable }: LoadedConfig): Map<string, string | undefined> {
  const others = [...servers, ...unusable].filter(
    ({ origin }) => !files.some(({ path }) => path === origin.file),
  );
  return new Map(others.map(({ name, origin }) => [name, origin.file]));
}
