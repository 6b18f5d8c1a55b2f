import { dirname, resolve } from 'node:path';
import {
  editConfig,
  entryForConfig,
  withoutServer,
  withServer,
  type ConfiguredServer,
  type LoadedConfig,
  type RuntimeEntry,
} from '../config/index.ts';
import { SwitchboardError } from '../shared/errors.ts';

type ConfigFile = Pick<LoadedConfig, 'file' | 'directory'>;

/** Rejects if the configuration already has a server of that name, even one that is disabled or unusable. */
export async function refuseTaken(config: ConfigFile, name: string): Promise<void> {
  await edit(config, (text) => withoutTaken(text, name), { dryRun: true });
}

export async function addToConfig(config: ConfigFile, name: string, entry: RuntimeEntry): Promise<void> {
  const written = entryForConfig(inItsDirectory(entry, config));
  // A variable set by a client may be a secret.
  const secret = Object.keys(entry.env ?? {}).length > 0;
  await edit(config, (text) => withServer(withoutTaken(text, name), name, written), { secret });
}

export async function removeFromConfig(
  config: ConfigFile,
  name: string,
  { origin }: ConfiguredServer,
): Promise<void> {
  if (origin.file !== '' && origin.file !== config.file)
    throw new SwitchboardError('CONFIG_NOT_EDITABLE', `It is defined in ${origin.file}.`, {
      hint: 'Remove it there, or it returns when the configuration is reloaded.',
    });
  await edit(config, (text) => withoutServer(text, name));
}

async function edit(
  { file, directory }: ConfigFile,
  change: (text: string) => string,
  how: { readonly dryRun?: boolean; readonly secret?: boolean } = {},
): Promise<void> {
  await editConfig({ file, directory, change, ...how });
}

/** A relative directory was meant relative to the project, but the user file resolves it from a different place. */
function inItsDirectory(entry: RuntimeEntry, { file, directory }: ConfigFile): RuntimeEntry {
  const { cwd = '' } = entry;
  if (cwd.trim() === '' || file === undefined || dirname(file) === directory) return entry;
  return { ...entry, cwd: resolve(directory, cwd) };
}

/** Returns the text if it has no server of that name. */
function withoutTaken(text: string, name: string): string {
  if (withoutServer(text, name) === text) return text;
  throw new SwitchboardError(
    'SERVER_EXISTS',
    `The configuration already has a server named ${JSON.stringify(name)}, which is disabled or not available.`,
    { hint: 'Choose another name.' },
  );
}
