import { withoutServer, type LoadedConfig } from '../../../config/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { printableLine } from '../../../shared/printable.ts';
import {
  backupText,
  CHANGE_FLAGS,
  changeConfig,
  everywhereText,
  notifyOfChange,
} from '../config/change-config.ts';
import type { CliCommand, Context } from '../command.ts';
import { inOtherFile, configTarget, type ConfigTarget, definedElsewhere } from '../config/config-target.ts';
import { Exit } from '../../../shared/exit-codes.ts';
import { notifiedText } from '../gateway/notify-gateways.ts';
import { unknownServer } from '../../../shared/unknown-server.ts';
import { configuredNames, oneServerIn } from './select-servers.ts';

export const removeCommand: CliCommand = {
  about: [
    'Removes a server from "mcpServers" in the configuration file$LAYERS[ (the project file if it ' +
      'exists, otherwise your user file; add --project or --user to choose)], with the comments directly ' +
      'above it. The rest of the file is kept. Running gateways reload and stop the server; running calls ' +
      'get a moment to finish.',
    'A server that another file defines, such as mcps/NAME/.mcp.json, is not removed; the command names ' +
      'that file. To keep the entry for later, use `$0 disable`.',
  ],
  flags: CHANGE_FLAGS,
  examples: [
    ['$0 remove files', 'also in running gateways'],
    ['$0 remove files --dry-run', 'preview'],
    ['$0 remove files --json', 'output as JSON'],
  ],
  exits: [[Exit.failed, 'a running gateway could not be notified']],
  async run(given, context) {
    const name = oneServerIn(given, 'remove', context, 'files');
    const config = await context.loadConfig();
    const target = configTarget(given, config, context);
    const { done, preview } = await changeConfig(target, given, context, (text) => {
      const after = withoutServer(text, name);
      if (after === text) throw inOtherFile(name, config, target) ?? notInFile(name, config, target);
      return after;
    });
    const { gateways, exitCode } = await notifyOfChange(done, [done.file], given, context);
    const mentions = mentionsOf(name, config, done.file);
    const successor = done.dryRun ? undefined : await successorOf(name, done.file, context);
    const shown = JSON.stringify(printableLine(name));
    return {
      exitCode,
      data: { removed: name, ...done, gateways, mentions, successor: successor ?? null },
      text: (style) => {
        if (done.dryRun) return preview(style) + everywhereText(done, given);
        const lines = [
          `Removed ${shown} from ${printableLine(done.file)}.${backupText(done)}\n`,
          everywhereText(done, given),
          ...mentions.map((key) => `${printableLine(key)} in that file still refers to it.\n`),
          successor === undefined
            ? ''
            : `The server of this name in ${printableLine(successor)} is used instead.\n`,
          notifiedText(gateways),
        ];
        return lines.join('');
      },
    };
  },
};

function notInFile(name: string, config: LoadedConfig, { file }: ConfigTarget): SwitchboardError {
  const elsewhere = definedElsewhere(name, config, file)?.file;
  if (elsewhere !== undefined) {
    return new SwitchboardError(
      'SERVER_ELSEWHERE',
      `${JSON.stringify(name)} is not defined in the configuration but in ${elsewhere}.`,
      { hint: 'Edit that file, or set "disabled": true there.' },
    );
  }
  return unknownServer(name, configuredNames(config));
}

/** What else in the file refers to a server. */
function mentionsOf(name: string, { suiteFiles, compounds }: LoadedConfig, file: string): string[] {
  return [
    ...(suiteFiles.get(name) === file ? [`suites.${name}`] : []),
    ...compounds
      .filter(({ origin }) => origin.file === file)
      .filter(({ subtools }) => subtools.some((part) => part.server === name))
      .map((compound) => `tools.${compound.name}`),
  ];
}

/** The file whose server with this name takes effect from now on. */
async function successorOf(name: string, file: string, context: Context): Promise<string | undefined> {
  return definedElsewhere(name, await context.loadConfig('quietly'), file)?.file;
}
