import { denyFiles } from '../../config/index.ts';
import { printableLine } from '../../shared/printable.ts';
import { usage } from '../arguments.ts';
import type { CliCommand } from '../command.ts';
import { Exit } from '../failure.ts';
import { notifyUnsupported, configPaths, notifyGateways, notifiedText } from '../notify-gateways.ts';

export const denyCommand: CliCommand = {
  name: 'deny',
  words: '[path]',
  summary: "undo allow, so that a project's servers no longer start",
  about: [
    'Undoes `$0 allow` for all files at or below the path. Gateways that run in the project of this ' +
      'directory reload and stop the servers of those files.',
  ],
  flags: [],
  examples: [
    ['$0 deny', "this directory's project"],
    ['$0 deny ~/src/app', 'another project'],
  ],
  async run({ words }, context) {
    const [path = '.', ...more] = words;
    if (more.length > 0)
      throw usage('deny takes one path.', `For example: ${context.variant.program} deny .`);
    const denied = denyFiles(path);
    const gateways =
      denied.length === 0
        ? []
        : notifyGateways(configPaths(await context.loadConfig('quietly')), context, notifyUnsupported());
    return {
      exitCode: Exit.ok,
      data: { denied, gateways },
      text: () =>
        denied.length === 0
          ? `Nothing was allowed at or below ${printableLine(path)}.\n`
          : denied.map((file) => `No longer allowed: ${printableLine(file)}\n`).join('') +
            (gateways.length === 0 ? '' : notifiedText(gateways)),
    };
  },
};
