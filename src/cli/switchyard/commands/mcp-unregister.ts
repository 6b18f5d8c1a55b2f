import { unregisterAlias } from '../../../switchyard/index.ts';
import { printableLine } from '../../../shared/printable.ts';
import { usage } from '../../arguments.ts';
import type { YardCommand } from '../command.ts';

export const yardMcpUnregisterCommand: YardCommand = {
  about: [
    'Removes a name from the projects that are registered for agents, from wherever you ask. The project and its services ' +
      'stay as they are. An agent whose entry has this name cannot start the server any more: `switchyard mcp uninstall ' +
      '--name NAME` takes the entry out.',
  ],
  flags: [],
  examples: [
    ['$0 mcp projects', 'the names there are'],
    ['$0 mcp unregister shop', 'away with one'],
  ],
  async run({ words: [name] }, { env }) {
    if (name === undefined)
      throw usage('mcp unregister needs a name.', '`switchyard mcp projects` lists the names there are.');
    const root = await unregisterAlias(name, env);
    return {
      exitCode: 0,
      data: { ok: true, action: 'unregister', name, root },
      text: () => `removed '${name}', which led to ${printableLine(root)}\n`,
    };
  },
};
