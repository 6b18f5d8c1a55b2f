import { SwitchboardError } from '../shared/errors.ts';
import { printableLine } from '../shared/printable.ts';
import { askUser, canAskUser, type Call } from '../gateway/index.ts';

/** A program that a client wants to start. */
export interface Proposal {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Names only: values may be secrets. */
  readonly envNames: readonly string[];
}

/**
 * Asks the user of a call's client whether a program may be started. Resolves when they agree; rejects when they do
 * not, or when the client cannot ask them.
 */
export async function requestApproval(proposal: Proposal, call: Call): Promise<void> {
  if (!canAskUser(call)) {
    const message = `Adding ${JSON.stringify(proposal.name)} needs user approval, and this client cannot ask for it.`;
    throw new SwitchboardError('APPROVAL_IMPOSSIBLE', message, {
      hint: 'To allow it without asking, set "management": {"approval": "auto"} in the configuration.',
    });
  }
  const answer = await askUser({ message: question(proposal) }, call);
  if (answer.kind !== 'accepted') throw notApproved(proposal);
}

function notApproved({ name }: Proposal): SwitchboardError {
  return new SwitchboardError('NOT_APPROVED', `Adding ${JSON.stringify(name)} was not approved.`, {
    hint: 'Ask the user before you try again.',
  });
}

/** Each on one line and made printable: what is shown must be what will run. */
function question({ name, command, args, cwd, envNames }: Proposal): string {
  return [
    `Start a program as MCP server ${JSON.stringify(printableLine(name))}?`,
    `Command: ${JSON.stringify(printableLine(command))}`,
    `Arguments: ${printableLine(JSON.stringify(args))}`,
    `Directory: ${printableLine(cwd)}`,
    `Environment set: ${envNames.length === 0 ? 'nothing' : printableLine(envNames.join(', '))}`,
  ].join('\n');
}
