import { chmodSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  locateConfig,
  editConfig,
  type EditedConfig,
  type ProgramVariant,
} from '../../../../config/index.ts';
import type { HostServer } from '../../../../hosts/index.ts';
import { stateDirectory, userConfigDirectory } from '../../../../shared/paths.ts';
import { isWritten, planImport, type ImportOptions, type PlannedServer } from './import-plan.ts';

/** Whose file it is: the person's own, that of everybody who works on a project, or one that was named. */
export type Level = 'user' | 'project' | 'explicit';

/** Servers of hosts that go into one of our own files; nothing is written yet. */
export interface ConfigImport {
  readonly level: Level;
  readonly planned: readonly PlannedServer[];
  /** What would change. */
  readonly edited: EditedConfig;
  write(): Promise<EditedConfig>;
}

export interface ConfigImportOptions extends Omit<ImportOptions, 'directory'> {
  /** The file that was named, absolute, where one was. */
  readonly explicit: string | undefined;
  readonly variant: ProgramVariant | undefined;
  /** What else to change in the text. Default nothing. */
  readonly more?: ((text: string) => string) | undefined;
}

/** Where a server of a host belongs. */
export function levelOf({ location }: HostServer): 'user' | 'project' {
  return location.scope === 'project' ? 'project' : 'user';
}

/** Works out what an import changes in one of our files. */
export async function planConfigImport(
  level: Level,
  servers: readonly HostServer[],
  options: ConfigImportOptions,
): Promise<ConfigImport> {
  const { where, explicit, variant, more = (text) => text } = options;
  const userDirectory = userConfigDirectory(where.env);
  const { file, directory } =
    level === 'explicit'
      ? { file: explicit, directory: dirname(explicit!) }
      : locateConfig(level, { cwd: where.cwd, userDirectory, home: where.home });
  // Whatever is in a repository is read by everybody who has that.
  const hidesSecrets = level === 'project' || options.hidesSecrets;
  // What is discovered in a project does not take names from the person's own servers.
  const elsewhere: ImportOptions['elsewhere'] = level === 'user' ? new Map() : options.elsewhere;
  let planned: readonly PlannedServer[] = [];
  const edit = (dryRun: boolean): Promise<EditedConfig> =>
    editConfig({
      file,
      directory,
      change(text) {
        const plan = planImport(text, servers, { ...options, directory, elsewhere, hidesSecrets });
        planned = plan.servers;
        return more(planned.some(isWritten) ? plan.after : text);
      },
      dryRun,
      backupsIn: stateDirectory(where.env),
      // A new file may hold the secrets of the hosts.
      ownerOnly: !hidesSecrets || level === 'user',
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
      if (level === 'user') mkdirSync(directory, { recursive: true, mode: 0o700 });
      const done = await edit(false);
      // It may have been readable for others before it held secrets.
      if (level === 'user' && done.before !== done.after) chmodSync(done.file, 0o600);
      return done;
    },
  };
}
