import { listWorktrees } from '../../../switchyard/index.ts';
import { printableLine } from '../../../shared/printable.ts';
import type { YardCommand } from '../invocation.ts';
import { ruledTable } from '../../kit/table.ts';
import { asLines } from '../../kit/text.ts';

export const yardListCommand: YardCommand = {
  about: [
    'Includes worktrees created by git or other tools. A worktree whose directory is gone is marked; ' +
      '`switchyard prune` forgets it.',
  ],
  flags: [],
  examples: [
    ['$0 list', 'branches and their directories'],
    ["$0 list --json | jq -r '.worktrees[].path'", 'only the directories'],
  ],
  run: (_given, invocation) =>
    invocation.inYard(async (yard) => {
      const worktrees = await listWorktrees(yard);
      return {
        data: { worktrees },
        text: (style) => {
          if (worktrees.length === 0) return 'no Switchyard worktrees registered\n';
          const rows = worktrees.map(({ branch, path, missing }) => [
            printableLine(branch),
            printableLine(path) + (missing === true ? ` ${style.bad('(missing)')}` : ''),
          ]);
          return asLines(ruledTable(['branch', 'path'], rows, style.columns));
        },
      };
    }),
};
