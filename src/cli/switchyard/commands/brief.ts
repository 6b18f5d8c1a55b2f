import { brief, changedFilesNow } from '../../../switchyard/index.ts';
import { Exit } from '../../failure.ts';
import { briefText } from '../brief-text.ts';
import type { YardCommand } from '../command.ts';
import { unknownBranch } from '../unknown-branch.ts';

export const yardBriefCommand: YardCommand = {
  about: [
    'Shows what is configured, what runs and where, which branch each canonical port points to, changed files, ' +
      'missing env files and the latest errors in the logs. It only reads and is fast, so it is a good first call ' +
      'for an agent. In a worktree it covers that branch; from the project root, all branches.',
  ],
  flags: [],
  examples: [
    ['$0 brief', 'for a person'],
    ['$0 brief --json', 'for an agent'],
    ['$0 brief feature-x', 'only one branch'],
  ],
  run: ({ words: [branch] }, invocation) =>
    invocation.inYard(async (yard) => {
      const found = await brief(yard, { branch, changed: changedFilesNow });
      return {
        exitCode: Exit.ok,
        data: found,
        text: (style) => briefText(found, style),
        ...(found.services.length === 0 ? await unknownBranch(yard, branch) : {}),
      };
    }),
};
