import { unregisterAlias } from '../../../switchyard/index.ts';
import { printableLine } from '../../../shared/printable.ts';
import { usage } from '../../arguments.ts';
import type { YardCommand } from '../command.ts';

export const yardMcpUnregisterCommand: YardCommand = {
  about: [
    'Removes a name from the projects registered for agents, from any directory. The project and its services do ' +
      'not change. A client whose entry uses this name can no longer start the server: `switchyard mcp uninstall ' +
      '--name NAME` removes the entry.',
  ],
  flags: [],
  examples: [
    ['$0 mcp projects', 'list the names'],
    ['$0 mcp unregister shop', 'remove one'],
  ],
  async run({ words: [name] }, { env }) {
    if (name === undefined)
      throw usage('mcp unregister needs a name.', '`switchyard mcp projects` lists the registered names.');
    const root = await unregisterAlias(name, env);
    return {
      exitCode: 0,
      data: { ok: true, action: 'unregister', name, root },
      text: () => `removed '${name}', which pointed to ${printableLine(root)}\n`,
    };
  },
};
