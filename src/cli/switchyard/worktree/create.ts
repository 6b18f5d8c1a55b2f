import { createWorktree } from '../../../switchyard/index.ts';
import { usage } from '../../kit/arguments.ts';
import { Exit } from '../../../shared/exit-codes.ts';
import type { YardCommand } from '../invocation.ts';
import { withInterrupt } from '../progress.ts';
import { printedLines } from '../../kit/text.ts';

export const yardCreateCommand: YardCommand = {
  about: [
    'Checks out an existing branch, tracks one that exists only at origin, or creates a new branch from --base ' +
      '(default: the current commit). Links or copies the files listed under [env] in switchyard.toml and in ' +
      '.worktreeinclude into the new worktree; existing files are kept.',
    'If the branch already has a worktree, the command says so and adds only the missing files.',
  ],
  flags: [
    { name: 'base', value: 'REF', summary: 'base of a new branch (default: the current commit)' },
    {
      name: 'path',
      value: 'DIR',
      summary: 'directory of the worktree (default: below ~/.switchyard/worktrees)',
    },
    { name: 'force-env', summary: 'replace existing env files in the worktree' },
  ],
  examples: [
    ['$0 create feature-x', 'a worktree for a new or existing branch'],
    ['$0 create fix/login --base v2.1', 'a new branch from a tag'],
    ['$0 create demo --path ../demo', 'next to this directory'],
    ['cd "$($0 create feature-x --json | jq -r .worktree)"', 'create it and change to it'],
  ],
  run({ words: [branch], flags }, invocation) {
    if (branch === undefined)
      throw usage('create needs a branch.', 'For example: switchyard create feature-x');
    return invocation.inYard((yard) =>
      withInterrupt(invocation, STOPPED, async ({ onEvent }, interrupt) => {
        const made = await createWorktree(yard, {
          branch,
          base: flags.get('base'),
          path: flags.get('path'),
          forceEnv: flags.has('force-env'),
          onEvent,
          signal: interrupt.signal,
        });
        const lines = [
          made.worktree,
          ...(made.message === undefined ? [] : [made.message]),
          ...made.env.map((action) => `env: ${action}`),
        ];
        return { exitCode: interrupt.exitCode() ?? Exit.ok, data: made, text: () => printedLines(lines) };
      }),
    );
  },
};

const STOPPED = 'Stopped. To continue, run the same command again.\n';
