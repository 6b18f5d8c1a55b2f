import { withoutServer, withServer, type LoadedConfig } from '../../../../config/index.ts';
import type { EntryJson } from '../../../../console/index.ts';
import { SwitchboardError } from '../../../../shared/errors.ts';
import { isObject } from '../../../../shared/is-object.ts';
import { parseJsonc } from '../../../../shared/jsonc.ts';
import { printableLine } from '../../../../shared/printable.ts';
import { readRegularFile } from '../../../../shared/regular-file.ts';
import { unknownServer } from '../../../../shared/unknown-server.ts';
import { Exit } from '../../../../shared/exit-codes.ts';
import { usage, type ParsedArguments } from '../../../kit/arguments.ts';
import type { CommandOutcome } from '../../../kit/command.ts';
import type { CliCommand, Context } from '../../command.ts';
import {
  backupText,
  CHANGE_FLAGS,
  changeConfig,
  everywhereText,
  notifyOfChange,
} from '../../config/change-config.ts';
import { configTarget, originOf, type ConfigTarget } from '../../config/config-target.ts';
import { hasSecrets, hideSecrets, restoreSecrets } from './hidden-entry.ts';
import { notifiedText } from '../../gateway/notify-gateways.ts';
import { configuredNames, oneServerIn } from '../select-servers.ts';

const EXPOSURES = ['suite', 'flat', 'search', 'code', 'hidden'];

export const editCommand: CliCommand = {
  about: [
    'Without flags, shows the entry of a server in its configuration file, with secrets as ••••••••. With ' +
      '--entry, replaces the entry; secrets that you leave as •••••••• keep their values.',
    'Comments and layout outside the entry are kept, a backup is written to the state directory, and running ' +
      'gateways reload. An invalid entry is rejected.',
  ],
  flags: [
    {
      name: 'entry',
      value: 'JSON',
      summary: 'the new entry, such as {"command":"node","args":["server.js"]}',
    },
    {
      name: 'exposure',
      value: 'suite|flat|search|code|hidden',
      summary: 'change only how the server is exposed',
    },
    { name: 'new', summary: 'with --entry: add a server that does not exist yet' },
    ...CHANGE_FLAGS,
  ],
  examples: [
    ['$0 edit memory', 'show its entry'],
    ['$0 edit memory --exposure flat', 'expose each of its tools'],
    ['$0 edit memory --entry \'{"command":"memory-server"}\' --dry-run', 'preview another entry'],
  ],
  exits: [[Exit.failed, 'a running gateway could not be notified']],
  async run(given, context) {
    const name = oneServerIn(given, 'edit', context, 'memory');
    const { flags } = given;
    const [entry, exposure] = [flags.get('entry'), flags.get('exposure')];
    if (entry !== undefined && exposure !== undefined)
      throw usage('--entry and --exposure cannot be combined.', 'Put "exposure" into the entry.');
    if (flags.has('new') && entry === undefined)
      throw usage(
        '--new needs --entry.',
        `For example: ${context.variant.program} edit ${name} --new --entry '{"command":"…"}'`,
      );
    if (exposure !== undefined && !EXPOSURES.includes(exposure))
      throw usage(`Unknown exposure ${JSON.stringify(exposure)}.`, `Use one of ${EXPOSURES.join(', ')}.`);
    const config = await context.loadConfig('or new');
    if (flags.has('new')) return changed(name, undefined, () => readEntry(entry), { given, config, context });
    const target = targetOf(name, given, config, context);
    const old = entryIn(name, target);
    if (entry === undefined && exposure === undefined) return shown(name, target, old);
    const next = (): EntryJson =>
      entry === undefined ? { ...old, exposure } : restoreSecrets(readEntry(entry), old);
    return changed(name, target, next, { given, config, context });
  },
};

function shown(name: string, { file }: ConfigTarget, old: EntryJson): CommandOutcome {
  const entry = hideSecrets(old);
  return {
    data: { server: name, file, entry },
    text: () => `${JSON.stringify(entry, undefined, 2)}\n`,
  };
}

async function changed(
  name: string,
  known: ConfigTarget | undefined,
  next: () => EntryJson,
  { given, config, context }: { given: ParsedArguments; config: LoadedConfig; context: Context },
): Promise<CommandOutcome> {
  const target = known ?? configTarget(given, config, context);
  const entry = next();
  const secret = hasSecrets(entry, name);
  const { done, preview } = await changeConfig({ ...target, secret }, given, context, (text) => {
    if (known === undefined && withoutServer(text, name) !== text) throw taken(name, context);
    return withServer(text, name, entry);
  });
  const { gateways, exitCode } = await notifyOfChange(done, [done.file], given, context);
  const quoted = JSON.stringify(printableLine(name));
  const file = printableLine(done.file);
  return {
    exitCode,
    data: { server: name, entry: hideSecrets(entry), ...done, gateways },
    text: (style) => {
      if (done.dryRun) return preview(style) + everywhereText(done, given);
      if (!done.changed) return `${quoted} is already so in ${file}.\n`;
      const what = known === undefined ? `Added ${quoted} to` : `Changed ${quoted} in`;
      return `${what} ${file}.${backupText(done)}\n${everywhereText(done, given)}${notifiedText(gateways)}`;
    },
  };
}

/** Our file that contains the entry. */
function targetOf(
  name: string,
  given: ParsedArguments,
  config: LoadedConfig,
  context: Context,
): ConfigTarget {
  const chosen = configTarget(given, config, context);
  if (given.flags.has('user') || given.flags.has('project')) return chosen;
  const origin = originOf(name, config);
  if (origin === undefined && !config.disabled.includes(name))
    throw unknownServer(name, configuredNames(config));
  const own = config.files.find(
    ({ path }) => path === origin?.file || (origin === undefined && hasEntry(name, path)),
  );
  if (own !== undefined) return { scope: own.scope, file: own.path, directory: config.directory };
  throw new SwitchboardError(
    'SERVER_ELSEWHERE',
    `${JSON.stringify(name)} is not defined in the configuration but in ${origin?.file ?? 'another file'}.`,
    { hint: 'Edit that file.' },
  );
}

function hasEntry(name: string, file: string): boolean {
  try {
    entryIn(name, { file });
    return true;
  } catch {
    return false;
  }
}

function entryIn(name: string, { file }: Pick<ConfigTarget, 'file'>): EntryJson {
  const config: unknown = file === undefined ? {} : parseJsonc(readRegularFile(file).toString('utf8'));
  const servers = isObject(config) && isObject(config.mcpServers) ? config.mcpServers : {};
  const entry = Object.hasOwn(servers, name) ? servers[name] : undefined;
  if (isObject(entry)) return entry;
  throw new SwitchboardError(
    'SERVER_ELSEWHERE',
    `${file ?? 'The configuration'} has no entry ${JSON.stringify(name)}.`,
    {
      hint: 'Add --user or --project to choose the other file.',
    },
  );
}

function readEntry(text: string | undefined): EntryJson {
  try {
    const entry: unknown = parseJsonc(text ?? '');
    if (isObject(entry)) return entry;
  } catch {
    // The same error: it is not an object.
  }
  throw usage(
    '--entry needs a JSON object.',
    'For example: --entry \'{"command":"node","args":["server.js"]}\'',
  );
}

function taken(name: string, { variant }: Context): SwitchboardError {
  return new SwitchboardError('SERVER_EXISTS', `A server named ${JSON.stringify(name)} already exists.`, {
    hint: `Change it with \`${variant.program} edit\`, or choose another name.`,
  });
}
