import { renameProject } from '../../../switchyard/index.ts';
import { usage } from '../../kit/arguments.ts';
import { actionOutcome, type YardCommand } from '../invocation.ts';
import { withProgress } from '../progress.ts';

export const yardRenameCommand: YardCommand = {
  about: [
    'The name of a project is part of its addresses, so it is unique on a machine. A second clone of a ' +
      'repository gets its own name automatically: `shop-work` in the directory `work`, or `shop-2`. This command ' +
      'chooses another one. It does not change switchyard.toml, which all clones share.',
    'Running services keep their addresses until `switchyard restart`.',
  ],
  flags: [{ name: 'reset', summary: 'go back to the name in switchyard.toml, if no other project has it' }],
  examples: [
    ['$0 rename kiosk', 'http://web.main.kiosk.localhost:7331 from now on'],
    ['$0 restart', 'apply it to running services'],
    ['$0 rename --reset', 'use the name in switchyard.toml'],
  ],
  run({ words: [name], flags }, invocation) {
    if ((name === undefined) !== flags.has('reset'))
      throw usage('rename needs a name, or --reset.', 'For example: switchyard rename shop-work');
    return invocation.inYard((yard) =>
      withProgress(invocation, async ({ onEvent }) =>
        actionOutcome(await renameProject(yard, { name, onEvent })),
      ),
    );
  },
};
