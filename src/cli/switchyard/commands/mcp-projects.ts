import { listAliases } from '../../../switchyard/index.ts';
import { printableLine } from '../../../shared/printable.ts';
import type { YardCommand } from '../command.ts';
import { yardTable } from '../yard-table.ts';

export const yardMcpProjectsCommand: YardCommand = {
  about: ['Lists the projects registered for agents, from any directory. It only reads.'],
  flags: [],
  examples: [['$0 mcp projects', 'names and their directories']],
  async run(_given, { env }) {
    const found = await listAliases(env);
    const rows = found.projects.map(({ name, status, root }) => [name, status, printableLine(root)]);
    return {
      exitCode: 0,
      data: found,
      text: ({ columns }) => {
        const lines =
          rows.length === 0
            ? ['no registered MCP projects']
            : yardTable(['name', 'status', 'root'], rows, columns);
        return [`state home: ${found.home}`, ...lines].map((line) => `${line}\n`).join('');
      },
    };
  },
};
