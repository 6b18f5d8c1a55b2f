import { editConfig, type EditedConfig, type LoadedConfig } from '../config/index.ts';
import {
  HOSTS,
  readServers,
  takeOver,
  type Host,
  type HostServer,
  type Surroundings,
  type TakenOver,
} from '../hosts/index.ts';
import { SwitchboardError } from '../shared/errors.ts';
import { stateDirectory } from '../shared/paths.ts';
import { usage, type Arguments } from './arguments.ts';
import type { Context } from './command.ts';
import { isOurs, ourProgram, referencesIn, surroundingsOf } from './host-entries.ts';
import { hostsIn, nameIn, scopeIn } from './host-flags.ts';
import { planImport, type ImportPlan } from './import-plan.ts';
import { neededVariables, type VariableState } from './needed-variables.ts';
import { planTakeover, type FileTakeover } from './takeover-plan.ts';

/** An import that is prepared, and has changed nothing yet. */
export interface ImportJob {
  readonly plan: ImportPlan;
  readonly config: LoadedConfig;
  /** What would change in the configuration. */
  readonly edited: EditedConfig;
  /** What would change in the files of hosts. */
  readonly takeovers: readonly HostTakeover[];
  readonly variables: readonly VariableState[];
  /** Files of hosts that were passed over because they cannot be read. */
  readonly problems: readonly SwitchboardError[];
  /** Does it: the configuration first, so that no server is ever in neither place. */
  apply(): Promise<ImportDone>;
}

export interface HostTakeover {
  readonly parts: FileTakeover;
  readonly change: TakenOver;
}

export interface ImportDone {
  readonly edited: EditedConfig;
  readonly takeovers: readonly {
    readonly parts: FileTakeover;
    readonly change: TakenOver | SwitchboardError;
  }[];
}

export async function prepareImport(given: Arguments, context: Context): Promise<ImportJob> {
  const { flags } = given;
  const where = surroundingsOf(context);
  const { servers, ours, problems } = gather(given, where);
  const config = await context.loadConfig('quietly');
  const takesOver = flags.has('takeover');
  const options = {
    where,
    directory: config.directory,
    elsewhere: discovered(config),
    hidesSecrets: hidesSecrets(given),
    takesOver,
  };
  let plan: ImportPlan = { servers: [], after: '' };
  const edit = (dryRun: boolean): Promise<EditedConfig> =>
    editConfig({
      file: config.file,
      directory: config.directory,
      change(text) {
        plan = planImport(text, servers, options);
        return plan.servers.some(({ state }) => state === 'new' || state === 'clash') ? plan.after : text;
      },
      dryRun,
      backup: true,
      // A new file may hold the secrets of the hosts.
      ownerOnly: !options.hidesSecrets,
      face: context.face.configFace,
    });
  const edited = await edit(true);
  const entryFor = (host: Host) =>
    ourProgram(host, { file: edited.file, variables: referencesIn(edited.after) }, context);
  const name = nameIn(given);
  const files = takesOver ? planTakeover({ planned: plan.servers, ours, name, entryFor }) : [];
  const take = (parts: FileTakeover, dryRun: boolean): Promise<TakenOver> =>
    takeOver({ parts, name, isOurs, stateDirectory: stateDirectory(context.env), dryRun });
  const takeovers: HostTakeover[] = [];
  for (const parts of files) takeovers.push({ parts, change: await take(parts, true) });
  return {
    plan,
    config,
    edited,
    takeovers,
    variables: neededVariables(plan.servers, context.env),
    problems,
    async apply() {
      const done = await edit(false);
      const results: ImportDone['takeovers'][number][] = [];
      for (const parts of files) results.push({ parts, change: await take(parts, false).catch(expected) });
      return { edited: done, takeovers: results };
    },
  };
}

/** What goes wrong with one file is told beside what was done. */
function expected(error: unknown): SwitchboardError {
  if (error instanceof SwitchboardError) return error;
  throw error;
}

interface Gathered {
  readonly servers: readonly HostServer[];
  readonly ours: readonly HostServer[];
  readonly problems: readonly SwitchboardError[];
}

function gather(given: Arguments, where: Surroundings): Gathered {
  const named = hostsIn(given);
  const scope = scopeIn(given);
  const only = given.lists.get('only');
  const problems: SwitchboardError[] = [];
  const found = (named.length > 0 ? named : HOSTS).flatMap((host) => {
    try {
      return readServers(host, where, scope);
    } catch (error) {
      // A host that nobody asked for need not be in order.
      if (named.length > 0) throw error;
      problems.push(expected(error));
      return [];
    }
  });
  const unknown = only?.find((name) => !found.some((server) => server.name === name));
  if (unknown !== undefined)
    throw usage(
      `No host has a server named ${JSON.stringify(unknown)}.`,
      'Leave out --only to see which there are.',
    );
  const others = found.filter(({ value }) => !isOurs(value));
  return {
    servers: only === undefined ? others : others.filter(({ name }) => only.includes(name)),
    ours: found.filter(({ value }) => isOurs(value)),
    problems,
  };
}

export function hidesSecrets({ flags }: Arguments): boolean {
  const how = flags.get('secrets') ?? 'keep';
  if (how === 'keep' || how === 'env') return how === 'env';
  throw usage(
    `--secrets takes "keep" or "env", not ${JSON.stringify(how)}.`,
    'With "env", they become references to variables, which you set.',
  );
}

/** The servers that were discovered beside the configuration, each with its file. */
export function discovered({ files, servers, unusable }: LoadedConfig): Map<string, string | undefined> {
  const others = [...servers, ...unusable].filter(
    ({ origin }) => !files.some(({ path }) => path === origin.file),
  );
  return new Map(others.map(({ name, origin }) => [name, origin.file]));
}
