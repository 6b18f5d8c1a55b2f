import { denyFiles } from '../../config/index.ts';
import { printableLine } from '../../shared/printable.ts';
import { usage } from '../arguments.ts';
import type { CliCommand } from '../command.ts';
import { Exit } from '../failure.ts';
import { notifyUnsupported, configPaths, notifyGateways, notifiedText } from '../notify-gateways.ts';

export const denyCommand: CliCommand = {
  name: 'deny',
  words: '[path]',
  summary: 'take back what allow has allowed',
  about: [
    'Forgets that the files of a project, at or below the path, are allowed. Gateways that run in the project of this ' +
      'folder reload and stop the servers of those files.',
  ],
  flags: [],
  examples: [
    ['$0 deny', 'the project of this folder'],
    ['$0 deny ~/src/app', 'another one'],
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
          : denied.map((file) => `Not allowed any more: ${printableLine(file)}\n`).join('') +
            (gateways.length === 0 ? '' : notifiedText(gateways)),
    };
  },
};
