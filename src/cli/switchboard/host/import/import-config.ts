import { dirname } from 'node:path';
import {
  locateConfig,
  editConfig,
  type EditedConfig,
  type ProgramVariant,
} from '../../../../config/index.ts';
import type { HostServer } from '../../../../hosts/index.ts';
import { stateDirectory, userConfigDirectory } from '../../../../shared/paths.ts';
import type { SecretStore } from '../../../../secrets/index.ts';
import { isWritten, planImport, type ImportOptions, type PlannedServer } from './import-plan.ts';

/** Whose file it is: the user's, the project's, or one that was named. */
export type Level = 'user' | 'project' | 'explicit';

/** Servers of hosts that will go into one of our own files; nothing has been written yet. */
export interface ConfigImport {
  readonly level: Level;
  readonly planned: readonly PlannedServer[];
  /** The planned change. */
  readonly edited: EditedConfig;
  write(): Promise<EditedConfig>;
}

export interface ConfigImportOptions extends Omit<
  ImportOptions,
  'directory' | 'storesSecrets' | 'knownSecrets'
> {
  /** The file that was named, absolute, if any. */
  readonly explicit: string | undefined;
  readonly variant: ProgramVariant | undefined;
  /** Where secrets go, if not into the configuration or the environment. Default: nowhere. */
  readonly secretStore?: SecretStore | undefined;
  /** Stops waiting for the keychain. */
  readonly signal: AbortSignal;
  /** What else to change in the text. Default: nothing. */
  readonly more?: ((text: string) => string) | undefined;
}

/** Where a host's server belongs. */
export function levelOf({ location }: HostServer): 'user' | 'project' {
  return location.scope === 'project' ? 'project' : 'user';
}

/** Plans what an import changes in one of our files. */
export async function planConfigImport(
  level: Level,
  servers: readonly HostServer[],
  options: ConfigImportOptions,
): Promise<ConfigImport> {
  const { where, explicit, variant, secretStore, signal, more = (text) => text } = options;
  const userDirectory = userConfigDirectory(where.env);
  const { file, directory } =
    level === 'explicit'
      ? { file: explicit, directory: explicit === undefined ? where.cwd : dirname(explicit) }
      : locateConfig(level, { cwd: where.cwd, userDirectory, home: where.home });
  // Everybody who has a repository can read everything in it.
  const hidesSecrets = level === 'project' || options.hidesSecrets;
  // Servers discovered in a project do not take names from the user's own servers.
  const elsewhere: ImportOptions['elsewhere'] = level === 'user' ? new Map() : options.elsewhere;
  const knownSecrets = secretStore && (await valuesIn(secretStore));
  const storesSecrets = secretStore !== undefined;
  let planned: readonly PlannedServer[] = [];
  const edit = (dryRun: boolean): Promise<EditedConfig> =>
    editConfig({
      file,
      directory,
      change(text) {
        const plan = planImport(text, servers, {
          ...options,
          ...{ directory, elsewhere, hidesSecrets, storesSecrets, knownSecrets },
        });
        planned = plan.servers;
        return more(planned.some(isWritten) ? plan.after : text);
      },
      dryRun,
      backupsIn: stateDirectory(where.env),
      // It may contain the hosts' secrets.
      ownerOnly: !hidesSecrets || level === 'user',
      secret: !hidesSecrets || level === 'user',
      scope: level === 'explicit' ? undefined : level,
      variant: variant,
    });
  const edited = await edit(true);
  return {
    level,
    edited,
    get planned() {
      return planned;
    },
    async write() {
      // Written first, so that every secret is always in at least one place.
      for (const { name, value } of planned.filter(isWritten).flatMap(({ secrets }) => secrets))
        if (knownSecrets?.get(name) !== value) await secretStore?.set(name, value, signal);
      return edit(false);
    },
  };
}

/** The stored secrets, with the values that can be read. */
async function valuesIn(store: SecretStore): Promise<Map<string, string | undefined>> {
  const names = store.list().map(({ name }) => name);
  const values = await store.values(names);
  return new Map(
    names.map((name) => {
      const state = values.get(name);
      return [name, state.kind === 'set' ? state.value : undefined];
    }),
  );
}
