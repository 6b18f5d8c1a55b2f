import { withServerDisabled, withServerEnabled, type LoadedConfig } from '../../../config/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { printableLine } from '../../../shared/printable.ts';
import { readRegularFile } from '../../../shared/regular-file.ts';
import type { ParsedArguments } from '../../kit/arguments.ts';
import {
  backupText,
  CHANGE_FLAGS,
  changeConfig,
  everywhereText,
  notifyOfChange,
} from '../config/change-config.ts';
import type { CommandOutcome } from '../../kit/command.ts';
import type { CliCommand, Context } from '../command.ts';
import { originOf, configTarget, type ConfigTarget } from '../config/config-target.ts';
import { Exit } from '../../../shared/exit-codes.ts';
import { notifiedText } from '../gateway/notify-gateways.ts';
import { unknownServer } from '../../../shared/unknown-server.ts';
import { configuredNames, oneServerIn } from './select-servers.ts';

/** Without --user and --project, the change is made where the server is defined. */
const FLAGS = CHANGE_FLAGS.map((flag) =>
  flag.name === 'project'
    ? {
        ...flag,
        summary:
          'change the project file (default: the file that defines the server, or else the one that `add` changes)',
      }
    : flag,
);

export const disableCommand: CliCommand = {
  about: [
    'Sets "disabled": true in the entry of a server, in the file that defines it. Running gateways reload ' +
      'and stop the server; running calls get a moment to finish.',
    'If another file, such as .mcp.json, defines the server, it is disabled in the configuration and that ' +
      'file is not changed.$LAYERS[ With --project, one of your own servers is disabled in this project ' +
      'only.]',
  ],
  flags: FLAGS,
  examples: [
    ['$0 disable github', 'also in running gateways'],
    ['$0 disable github --project', 'in this project only'],
    ['$0 disable github --dry-run', 'preview'],
    ['$0 enable github', 'enable it again'],
  ],
  exits: [[Exit.failed, 'a running gateway could not be notified']],
  async run(given, context) {
    const name = oneServerIn(given, 'disable', context, 'github');
    const config = await context.loadConfig();
    const isOff = config.disabled.includes(name);
    if (!isOff && originOf(name, config) === undefined) throw unknownServer(name, configuredNames(config));
    if (isOff && !namesFile(given)) return already(name, 'disabled');
    const target = namesFile(given)
      ? configTarget(given, config, context)
      : placeOf(name, given, config, context);
    return change({ name, what: 'disabled', target }, given, context);
  },
};

export const enableCommand: CliCommand = {
  about: [
    'Removes "disabled": true from the entry of a server. Running gateways reload. If the entry has ' +
      'nothing else, it is removed, and the definition in another file applies again.',
  ],
  flags: FLAGS,
  examples: [
    ['$0 enable github', 'also in running gateways'],
    ['$0 enable github --dry-run', 'preview'],
  ],
  exits: [[Exit.failed, 'a running gateway could not be notified']],
  async run(given, context) {
    const name = oneServerIn(given, 'enable', context, 'github');
    const config = await context.loadConfig();
    if (!config.disabled.includes(name)) {
      if (originOf(name, config) !== undefined) return already(name, 'enabled');
      throw unknownServer(name, configuredNames(config));
    }
    const target = namesFile(given) ? configTarget(given, config, context) : whereOff(name, config);
    return change({ name, what: 'enabled', target }, given, context);
  },
};

function namesFile({ flags }: ParsedArguments): boolean {
  return flags.has('user') || flags.has('project');
}

/** The file that defines a server; if that is none of ours, one that has the same scope and therefore counts. */
function placeOf(name: string, given: ParsedArguments, config: LoadedConfig, context: Context): ConfigTarget {
  const origin = originOf(name, config);
  const own = config.files.find(({ path }) => path === origin?.file);
  return own === undefined
    ? configTarget(given, config, context, origin?.scope === 'explicit' ? undefined : origin?.scope)
    : { scope: own.scope, file: own.path, directory: config.directory };
}

/** Our file that disables a server. */
function whereOff(name: string, config: LoadedConfig): ConfigTarget {
  const found = config.files.find(({ path }) => {
    try {
      const text = readRegularFile(path).toString('utf8');
      return withServerEnabled(text, name) !== text;
    } catch {
      // For example, a JavaScript configuration.
      return false;
    }
  });
  if (found !== undefined) return { scope: found.scope, file: found.path, directory: config.directory };
  const file = config.disabledAt?.get(name)?.file ?? 'a file';
  throw new SwitchboardError(
    'SERVER_ELSEWHERE',
    `${JSON.stringify(name)} is disabled in ${printableLine(file)}, which Switchboard does not change.`,
    { hint: 'Remove "disabled" from its entry there.' },
  );
}

function already(name: string, what: 'enabled' | 'disabled'): CommandOutcome {
  return {
    data: { server: name, enabled: what === 'enabled', changed: false },
    text: () => `${JSON.stringify(printableLine(name))} is already ${what}.\n`,
  };
}

interface Change {
  readonly name: string;
  readonly what: 'enabled' | 'disabled';
  readonly target: ConfigTarget;
}

async function change(
  { name, what, target }: Change,
  given: ParsedArguments,
  context: Context,
): Promise<CommandOutcome> {
  const edit = what === 'enabled' ? withServerEnabled : withServerDisabled;
  const { done, preview } = await changeConfig(target, given, context, (text) => edit(text, name));
  const { gateways, exitCode } = await notifyOfChange(done, [done.file], given, context);
  const shown = JSON.stringify(printableLine(name));
  const file = printableLine(done.file);
  return {
    exitCode,
    data: { server: name, enabled: what === 'enabled', ...done, gateways },
    text: (style) => {
      const everywhere = everywhereText(
        done,
        given,
        what === 'disabled' ? ' --project disables it only in this one.' : '',
      );
      if (done.dryRun) return preview(style) + everywhere;
      if (!done.changed) return `${shown} is already ${what} in ${file}.\n`;
      return `${what === 'enabled' ? 'Enabled' : 'Disabled'} ${shown} in ${file}.${backupText(done)}\n${everywhere}${notifiedText(gateways)}`;
    },
  };
}
