import { unknownNames, type YardContext } from '../../switchyard/index.ts';
import { printableLine } from '../../shared/printable.ts';
import type { CommandOutcome } from '../command.ts';

/** For an empty result: the message for stderr if the requested branch does not exist. */
export async function unknownBranch(
  yard: YardContext,
  branch: string | undefined,
): Promise<Pick<CommandOutcome, 'complaint'>> {
  const unknown = branch === undefined ? [] : await unknownNames(yard, { branch });
  return unknown.length === 0
    ? {}
    : { complaint: unknown.map((text) => `${printableLine(text)}\n`).join('') };
}
