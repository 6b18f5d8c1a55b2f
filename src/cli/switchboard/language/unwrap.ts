import { statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import {
  keepApproval,
  withoutLanguage,
  type LoadedConfig,
  type ServerDefinition,
} from '../../../config/index.ts';
import {
  WRAP_CONFIG_FILE,
  readFolderState,
  refuseToUnwrap,
  unwrapFolder,
} from '../../../language/wrap/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { withFileLock } from '../../../shared/file-lock.ts';
import { isThere } from '../../../shared/is-there.ts';
import { printableLine } from '../../../shared/printable.ts';
import type { ParsedArguments } from '../../kit/arguments.ts';
import { backupText, CHANGE_FLAGS, changeConfig, notifyOfChange } from '../config/change-config.ts';
import type { CommandOutcome } from '../../kit/command.ts';
import type { CliCommand, Context } from '../command.ts';
import { inOtherFile, isConfigFile, configTarget, type ConfigTarget } from '../config/config-target.ts';
import { Exit } from '../../../shared/exit-codes.ts';
import { oneServerIn, requireServer } from '../server/select-servers.ts';
import { configPaths, notifiedText } from '../gateway/notify-gateways.ts';

export const unwrapCommand: CliCommand = {
  about: [
    'Undoes `$0 wrap`. In the configuration file, "language" is removed from the entry. In a folder, ' +
      'original/.mcp.json is restored byte for byte and the wrapper is removed. It also cleans up after an ' +
      'interrupted wrap.',
    'An edited CLAUDE.md is kept. If .mcp.json has changes other than arguments of the wrapper, the ' +
      'command stops and lists them. --force discards both.',
    'You can name the folder instead of the server, from any directory.',
  ],
  flags: [{ name: 'force', summary: 'discard changes made since `wrap`' }, ...CHANGE_FLAGS],
  examples: [
    ['$0 unwrap memory', 'expose its own tools again'],
    ['$0 unwrap memory --dry-run', 'preview'],
    ['$0 unwrap ./mcps/memory', 'by its folder'],
    ['$0 unwrap memory --force', 'discard later changes'],
  ],
  exits: [[Exit.failed, 'a file was changed since, or a running gateway could not be notified']],
  async run(given, context) {
    const name = oneServerIn(given, 'unwrap', context, 'memory');
    const config = await context.loadConfig();
    const broken = `If its ${WRAP_CONFIG_FILE} is damaged or missing, pass its folder: ${context.variant.program} unwrap ./mcps/memory`;
    const known = config.servers.find((server) => server.name === name);
    const folder = known === undefined ? folderOf(name, config, context) : undefined;
    const unwrapIn = (place: string): Promise<CommandOutcome> => {
      const file = join(place, WRAP_CONFIG_FILE);
      const work = (): Promise<CommandOutcome> => unwrapInFolder(place, given, config, context);
      return withFileLock(file, work, { signal: context.stop });
    };
    if (folder !== undefined) return unwrapIn(folder);
    const server = requireServer(config, name, broken);
    if (isConfigFile(server.origin.file, config)) {
      const target = configTarget(given, config, context);
      const elsewhere = inOtherFile(name, config, target);
      if (elsewhere !== undefined) throw elsewhere;
      return unwrapEntry(server, given, target, context);
    }
    return unwrapIn(folderOfServer(server));
  },
};

/** The folder that a word names: any folder by its path, otherwise one that contains a wrapped server. */
function folderOf(word: string, { warnings }: LoadedConfig, { cwd }: Context): string | undefined {
  const said = warnings.find(({ server, file }) => server === word && file !== undefined)?.file;
  const isPath = /[\\/]/.test(word) || word === '.' || word === '..';
  return [resolve(cwd, word), ...(said === undefined ? [] : [dirname(said)])].find(
    (folder) => isFolder(folder) && (isPath || readFolderState(folder).kind !== 'plain'),
  );
}

/** Whatever cannot be examined, such as a name that is too long, is not a folder. */
function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function folderOfServer({ name, origin, language }: ServerDefinition): string {
  const folder = dirname(origin.file);
  if (language !== undefined && readFolderState(folder).kind === 'plain') {
    throw new SwitchboardError(
      'UNWRAP_REFUSED',
      `The model of ${JSON.stringify(name)} is set in ${origin.file}.`,
      {
        hint: 'Remove "language" from that file.',
      },
    );
  }
  return folder;
}

/** Removes the model from the entry in the configuration. */
async function unwrapEntry(
  { name }: ServerDefinition,
  given: ParsedArguments,
  target: ConfigTarget,
  context: Context,
): Promise<CommandOutcome> {
  const { done, preview } = await changeConfig(target, given, context, (text) => withoutLanguage(text, name));
  const { gateways, exitCode } = await notifyOfChange(done, [done.file], given, context);
  const shown = JSON.stringify(printableLine(name));
  return {
    exitCode,
    data: { server: name, how: 'config', ...done, gateways },
    text: (style) => {
      if (done.dryRun) return preview(style) || `Nothing would change: ${shown} is not wrapped.\n`;
      if (!done.changed) return `${shown} is not wrapped.\n`;
      return `Unwrapped ${shown} in ${printableLine(done.file)}.${backupText(done)}\n${notifiedText(gateways)}`;
    },
  };
}

/** Restores the folder of a server. */
async function unwrapInFolder(
  folder: string,
  given: ParsedArguments,
  config: LoadedConfig,
  context: Context,
): Promise<CommandOutcome> {
  const { kind, places, ownsOriginal } = readFolderState(folder);
  const restores = ownsOriginal && isThere(places.originalConfig);
  const dryRun = given.flags.has('dry-run');
  const force = given.flags.has('force');
  if (dryRun) refuseToUnwrap(folder, force);
  const { kept } =
    kind === 'plain' || dryRun
      ? { kept: [] }
      : await keepApproval([places.config], () => unwrapFolder(folder, { force }));
  const done = { changed: kind !== 'plain' && !dryRun, dryRun };
  const { gateways, exitCode } = await notifyOfChange(done, configPaths(config), given, context);
  return {
    exitCode,
    data: { folder, how: 'folder', was: kind, ...done, kept, gateways },
    text: () => {
      const shown = printableLine(folder);
      if (kind === 'plain') return `${shown} is not wrapped.\n`;
      if (dryRun)
        return `Would unwrap ${shown}: ${restores ? `restore ${WRAP_CONFIG_FILE} from original/ and ` : ''}remove the wrapper.\n`;
      return [
        `${kind === 'wrapped' ? 'Unwrapped' : 'Cleaned up'} ${shown}: ${restores ? 'the original definition is restored' : 'the wrapper is removed'}.\n`,
        ...kept.map((path) => `${printableLine(path)} was changed and is kept.\n`),
        notifiedText(gateways),
      ].join('');
    },
  };
}
