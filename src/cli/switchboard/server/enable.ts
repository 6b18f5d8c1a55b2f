import { readFileSync } from 'node:fs';
import { withServerDisabled, withServerEnabled, type LoadedConfig } from '../../../config/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { printableLine } from '../../../shared/printable.ts';
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
import { configTarget, type ConfigTarget } from '../config/config-target.ts';
import { Exit } from '../../../shared/exit-codes.ts';
import { notifiedText } from '../gateway/notify-gateways.ts';
import { unknownServer } from '../../../shared/unknown-server.ts';
import { oneServerIn } from './select-servers.ts';

export const disableCommand: CliCommand = {
  about: [
    'Sets "disabled": true in the entry of a server, in the file that defines it. Running gateways reload ' +
      'and stop the server; running calls get a moment to finish.',
    'If another file, such as .mcp.json, defines the server, it is disabled in the configuration and that ' +
      'file is not changed.$LAYERS[ With --project, one of your own servers is disabled in this project ' +
      'only.]',
  ],
  flags: CHANGE_FLAGS,
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
    if (!isOff && !isDefined(name, config)) throw unknownServer(name, namesOf(config));
    if (isOff && !namesFile(given)) return already(name, 'disabled');
    const target = namesFile(given)
      ? configTarget(given, config, context)
      : placeOf(name, given, config, context);
    return change(name, 'disabled', target, given, context);
  },
};

export const enableCommand: CliCommand = {
  about: [
    'Removes "disabled": true from the entry of a server. Running gateways reload. If the entry has ' +
      'nothing else, it is removed, and the definition in another file applies again.',
  ],
  flags: CHANGE_FLAGS,
  examples: [
    ['$0 enable github', 'also in running gateways'],
    ['$0 enable github --dry-run', 'preview'],
  ],
  exits: [[Exit.failed, 'a running gateway could not be notified']],
  async run(given, context) {
    const name = oneServerIn(given, 'enable', context, 'github');
    const config = await context.loadConfig();
    if (!config.disabled.includes(name)) {
      if (isDefined(name, config)) return already(name, 'enabled');
      throw unknownServer(name, namesOf(config));
    }
    const target = namesFile(given) ? configTarget(given, config, context) : whereOff(name, config);
    return change(name, 'enabled', target, given, context);
  },
};

function namesFile({ flags }: ParsedArguments): boolean {
  return flags.has('user') || flags.has('project');
}

function namesOf({ servers, disabled }: LoadedConfig): string[] {
  return [...servers.map((server) => server.name), ...disabled];
}

function isDefined(name: string, { servers, unusable }: LoadedConfig): boolean {
  return [...servers, ...unusable].some((server) => server.name === name);
}

/** The file that defines a server; where that is none of ours, the one that `add` would write to. */
function placeOf(name: string, given: ParsedArguments, config: LoadedConfig, context: Context): ConfigTarget {
  const origin = [...config.servers, ...config.unusable].find((server) => server.name === name)?.origin;
  const own = config.files.find(({ path }) => path === origin?.file);
  return own === undefined
    ? configTarget(given, config, context)
    : { scope: own.scope, file: own.path, directory: config.directory };
}

/** The file of ours that disables a server. */
function whereOff(name: string, config: LoadedConfig): ConfigTarget {
  const found = config.files.find(({ path }) => {
    try {
      const text = readFileSync(path, 'utf8');
      return withServerEnabled(text, name) !== text;
    } catch {
      // One that is a program, for example.
      return false;
    }
  });
  if (found !== undefined) return { scope: found.scope, file: found.path, directory: config.directory };
  throw new SwitchboardError(
    'SERVER_ELSEWHERE',
    `${JSON.stringify(name)} is not disabled in a configuration file that can be changed here.`,
    { hint: 'Remove "disabled" from the file that defines it, such as .mcp.json.' },
  );
}

function already(name: string, what: 'enabled' | 'disabled'): CommandOutcome {
  return {
    data: { server: name, enabled: what === 'enabled', changed: false },
    text: () => `${JSON.stringify(printableLine(name))} is already ${what}.\n`,
  };
}

async function change(
  name: string,
  what: 'enabled' | 'disabled',
  target: ConfigTarget,
  given: ParsedArguments,
  context: Context,
): Promise<CommandOutcome> {
  const edit = what === 'enabled' ? withServerEnabled : withServerDisabled;
  const { done, preview } = await changeConfig(target, given, context, (text) => edit(text, name));
  const { gateways, exitCode } = notifyOfChange(done, [done.file], given, context);
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
