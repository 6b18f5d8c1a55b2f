import { uncheckout } from '../../../switchyard/index.ts';
import { actionOutcome } from '../action-outcome.ts';
import type { YardCommand } from '../command.ts';
import { resolveTarget } from '../resolve-target.ts';

export const yardUncheckoutCommand: YardCommand = {
  about: [
    'Without arguments in a worktree: releases the ports of its branch; from the project root: those of all ' +
      'branches. The first argument may be a branch or a service; use --branch if a name is both. The services ' +
      'keep running at their addresses and on their own ports.',
  ],
  flags: [{ name: 'branch', value: 'BRANCH', summary: 'only this branch; all arguments are then services' }],
  examples: [
    ['$0 uncheckout', 'all canonical ports'],
    ['$0 uncheckout db', 'only one service'],
    ['$0 uncheckout feature-x', 'only one branch'],
  ],
  run: (given, invocation) =>
    invocation.inRecordedYard(async (yard) =>
      actionOutcome(await uncheckout(yard, await resolveTarget(yard, 'uncheckout', given))),
    ),
};
