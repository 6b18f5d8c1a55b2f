import { brief as look, changedFilesNow } from '../../../switchyard/index.ts';
import { Exit } from '../../failure.ts';
import { briefText } from '../brief-text.ts';
import type { YardCommand } from '../command.ts';
import { unknownBranch } from '../unknown-branch.ts';

export const yardBriefCommand: YardCommand = {
  about: [
    'What is configured, what runs and where, which usual ports lead where, what has changed in git, which env files ' +
      'are missing, and the last errors in the logs. Starts nothing, writes nothing, and is quick: a good first ' +
      'question for an agent. In a worktree it is about its branch, from the root about all.',
  ],
  flags: [],
  examples: [
    ['$0 brief', 'for a person'],
    ['$0 brief --json', 'for an agent'],
    ['$0 brief feature-x', 'about one branch'],
  ],
  run: ({ words: [branch] }, invocation) =>
    invocation.inYard(async (yard) => {
      const found = await look(yard, { branch, changed: changedFilesNow });
      return {
        exitCode: Exit.ok,
        data: found,
        text: (style) => briefText(found, style),
        ...(found.services.length === 0 ? await unknownBranch(yard, branch) : {}),
      };
    }),
};
