import { readFileSync } from 'node:fs';
import { withServerDisabled, withServerEnabled, type LoadedConfig } from '../../config/index.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import { didYouMean } from '../../shared/nearest.ts';
import { printableLine } from '../../shared/printable.ts';
import { usage, type ParsedArguments } from '../arguments.ts';
import {
  backupText,
  CHANGE_FLAGS,
  changeConfig,
  everywhereText,
  reasonNotToNotify,
} from '../change-config.ts';
import type { CliCommand, Context, CommandOutcome } from '../command.ts';
import { configTarget, type ConfigTarget } from '../config-target.ts';
import { Exit } from '../failure.ts';
import { notifyGateways, notifiedText } from '../notify-gateways.ts';

export const disableCommand: CliCommand = {
  name: 'disable',
  words: '<server>',
  summary: 'turn a server off, and keep its entry',
  about: [
    'Writes "disabled": true into the entry of a server, in the file that defines it. Running gateways reload and stop ' +
      'the server; its running calls get a moment to finish.',
    'A server that another file defines, such as .mcp.json or a file of mcps/, is turned off in the configuration: that ' +
      'file is not touched.$LAYERS[ With --project, a server of your own is turned off in this project only.]',
  ],
  flags: CHANGE_FLAGS,
  examples: [
    ['$0 disable github', 'now, also in running gateways'],
    ['$0 disable github --project', 'in this project only'],
    ['$0 disable github --dry-run', 'look first'],
    ['$0 enable github', 'and back'],
  ],
  exits: [[Exit.failed, 'a running gateway could not be notified']],
  async run(given, context) {
    const name = nameIn(given, 'disable', context);
    const config = await context.loadConfig();
    const isOff = config.disabled.includes(name);
    if (!isOff && !isDefined(name, config)) throw unknown(name, config);
    if (isOff && !namesFile(given)) return already(name, 'off');
    const target = namesFile(given)
      ? configTarget(given, config, context)
      : placeOf(name, given, config, context);
    return change(name, 'off', target, given, context);
  },
};

export const enableCommand: CliCommand = {
  name: 'enable',
  words: '<server>',
  summary: 'turn a server on again',
  about: [
    'Takes "disabled": true out of the entry of a server, in the file that has it, and tells running gateways. Where the ' +
      'entry says nothing else, all of it is taken out, and the definition in another file counts again.',
  ],
  flags: CHANGE_FLAGS,
  examples: [
    ['$0 enable github', 'now, also in running gateways'],
    ['$0 enable github --dry-run', 'look first'],
  ],
  exits: [[Exit.failed, 'a running gateway could not be notified']],
  async run(given, context) {
    const name = nameIn(given, 'enable', context);
    const config = await context.loadConfig();
    if (!config.disabled.includes(name)) {
      if (isDefined(name, config)) return already(name, 'on');
      throw unknown(name, config);
    }
    const target = namesFile(given) ? configTarget(given, config, context) : whereOff(name, config);
    return change(name, 'on', target, given, context);
  },
};

function nameIn({ words }: ParsedArguments, command: string, { variant }: Context): string {
  const [name, ...more] = words;
  if (name !== undefined && more.length === 0) return name;
  throw usage(
    `${command} needs the name of one server.`,
    `For example: ${variant.program} ${command} github`,
  );
}

function namesFile({ flags }: ParsedArguments): boolean {
  return flags.has('user') || flags.has('project');
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

/** The file of ours that turns a server off. */
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
    `${JSON.stringify(name)} is not turned off in a configuration that can be changed here.`,
    { hint: 'Take "disabled" out of the file that defines it, such as .mcp.json.' },
  );
}

function unknown(name: string, { servers, disabled }: LoadedConfig): SwitchboardError {
  const names = [...servers.map((server) => server.name), ...disabled];
  const hint =
    didYouMean(name, names) ??
    (names.length === 0 ? 'No server is configured.' : `There are: ${names.join(', ')}.`);
  return new SwitchboardError('SERVER_UNKNOWN', `No server named ${JSON.stringify(name)}.`, { hint });
}

function already(name: string, what: 'on' | 'off'): CommandOutcome {
  return {
    exitCode: Exit.ok,
    data: { server: name, enabled: what === 'on', changed: false },
    text: () => `${JSON.stringify(printableLine(name))} is turned ${what} already.\n`,
  };
}

async function change(
  name: string,
  what: 'on' | 'off',
  target: ConfigTarget,
  given: ParsedArguments,
  context: Context,
): Promise<CommandOutcome> {
  const edit = what === 'on' ? withServerEnabled : withServerDisabled;
  const { done, preview } = await changeConfig(target, given, context, (text) => edit(text, name));
  const quiet = reasonNotToNotify(done, given);
  const gateways = notifyGateways([done.file], context, quiet);
  const shown = JSON.stringify(printableLine(name));
  const file = printableLine(done.file);
  return {
    exitCode: quiet === undefined && gateways.some((each) => !each.told) ? Exit.failed : Exit.ok,
    data: { server: name, enabled: what === 'on', ...done, gateways },
    text: (style) => {
      const everywhere = everywhereText(
        done,
        given,
        what === 'off' ? ' --project turns it off in this one only.' : '',
      );
      if (done.dryRun) return preview(style) + everywhere;
      if (!done.changed) return `${shown} is turned ${what} in ${file} already.\n`;
      return `Turned ${what} ${shown} in ${file}.${backupText(done)}\n${everywhere}${notifiedText(gateways)}`;
    },
  };
}
