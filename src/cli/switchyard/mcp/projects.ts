import { listAliases, unregisterAlias } from '../../../switchyard/index.ts';
import { printableLine } from '../../../shared/printable.ts';
import type { YardCommand } from '../invocation.ts';
import { ruledTable } from '../../kit/table.ts';
import { asLines } from '../../kit/text.ts';
import { usage } from '../../kit/arguments.ts';

export const yardMcpProjectsCommand: YardCommand = {
  about: ['Lists the projects registered for agents, from any directory. It only reads.'],
  flags: [],
  examples: [['$0 mcp projects', 'names and their directories']],
  async run(_given, { env }) {
    const found = await listAliases(env);
    const rows = found.projects.map(({ name, status, root }) => [name, status, printableLine(root)]);
    return {
      data: found,
      text: ({ columns }) => {
        const lines =
          rows.length === 0
            ? ['no registered MCP projects']
            : ruledTable(['name', 'status', 'root'], rows, columns);
        return asLines([`state home: ${found.home}`, ...lines]);
      },
    };
  },
};

export const yardMcpUnregisterCommand: YardCommand = {
  about: [
    'Removes a name from the projects registered for agents, from any directory. The project and its services do ' +
      'not change. A host whose entry uses this name can no longer start the server: `switchyard mcp uninstall ' +
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
      data: { ok: true, action: 'unregister', name, root },
      text: () => `removed '${name}', which pointed to ${printableLine(root)}\n`,
    };
  },
};
