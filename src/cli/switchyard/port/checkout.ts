import {
  checkout,
  verify,
  type Verification,
  type YardContext,
  uncheckout,
} from '../../../switchyard/index.ts';
import { printableLine } from '../../../shared/printable.ts';
import { usage, type ParsedArguments } from '../../kit/arguments.ts';
import type { CommandOutcome } from '../../kit/command.ts';
import { Exit } from '../../../shared/exit-codes.ts';
import { actionOutcome, type YardInvocation, type YardCommand } from '../invocation.ts';
import { withProgress } from '../progress.ts';
import { asLines } from '../../kit/text.ts';
import { resolveTarget } from '../target.ts';

export const yardCheckoutCommand: YardCommand = {
  about: [
    'The ports in switchyard.toml (canonical ports) are where bookmarks, mobile apps and other programs expect a ' +
      'service. This command points them to the running services of one branch, as plain TCP, so WebSockets and ' +
      'databases work too. No connection is refused during a switch, and the other branch keeps ' +
      'running. Its open connections end, so that a reload shows the new branch: idle ones and WebSockets immediately, ' +
      'those with a pending request after the response, at most 5 seconds later. If another process holds a port, ' +
      'the port is left alone and that process is reported.',
    'The exit code is 1 if anything you asked for failed: nothing runs, a service you named has no port, or a ' +
      'port is already in use. Everything else is still done. Ports that already point to the branch count as done.',
    '--verify checks with the operating system, not the records, which process of which branch listens behind ' +
      'each of these ports, waits until no connection leads elsewhere, and opens each port over 127.0.0.1 and ::1 as a ' +
      'browser would. It fails if a port does not belong to the branch you asked for. Without a branch it changes ' +
      'nothing.',
  ],
  flags: [{ name: 'verify', summary: 'prove which process responds on the canonical ports' }],
  examples: [
    ['$0 checkout feature-x', 'localhost:3000 is feature-x now'],
    ['$0 checkout main web', 'only one service'],
    ['$0 checkout --verify', 'which branch responds now; changes nothing'],
    ['$0 checkout feature-x --verify', 'switch, and prove it'],
    ['$0 uncheckout', 'release the ports'],
  ],
  run: (given, invocation) => invocation.inYard((yard) => run(given, invocation, yard)),
};

async function run(
  { words, flags }: ParsedArguments,
  invocation: YardInvocation,
  yard: YardContext,
): Promise<CommandOutcome> {
  const [branch, ...services] = words;
  if (branch === undefined) {
    if (!flags.has('verify'))
      throw usage('checkout needs a branch.', 'For example: switchyard checkout feature-x');
    return verified(
      { ok: true, action: 'verify', messages: [] },
      await verify(yard, { services: [], browse: true }),
    );
  }
  const done = await withProgress(invocation, ({ onEvent }) => checkout(yard, { branch, services, onEvent }));
  if (!flags.has('verify')) return actionOutcome(done);
  return verified(done, await verify(yard, { branch, services, browse: true }));
}

interface Done {
  readonly ok: boolean;
  readonly action: string;
  readonly messages: readonly string[];
}

/** The action followed by the proof; a failed proof is a failure. */
function verified(done: Done, proofs: readonly Verification[]): CommandOutcome {
  const ok = done.ok && proofs.every((proof) => proof.ok);
  return {
    exitCode: ok ? Exit.ok : Exit.failed,
    data: { ...done, ok, verified: proofs },
    text: (style) => {
      const lines = proofs.map(({ service, text, ok: good }) => {
        const mark = good ? style.good('ok') : style.bad('not ok');
        return `${printableLine(service)}: ${mark}, ${printableLine(text)}`;
      });
      if (proofs.length === 0) lines.push('no service has a port in switchyard.toml');
      return asLines([...done.messages.map(printableLine), ...lines]);
    },
  };
}

export const yardUncheckoutCommand: YardCommand = {
  about: [
    'Without arguments in a worktree: releases the ports of its branch; from the project root: those of all ' +
      'branches. The first argument may be a branch or a service; use --branch if a name is both. The services ' +
      'keep running at their addresses and on their own ports.',
  ],
  flags: [
    {
      name: 'branch',
      value: 'BRANCH',
      summary: 'only this branch; all arguments are then names of services',
    },
  ],
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
