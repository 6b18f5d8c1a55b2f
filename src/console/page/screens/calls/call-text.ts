/** The name of a call and its outcome, for people. */
import type { CallInfo } from '../../../protocol.ts';

export const callName = (call: CallInfo): string => call.subtool ?? call.name ?? call.method;

export type OutcomeTone = 'running' | 'ok' | 'failed' | 'cancelled';

export const toneOf = ({ outcome }: CallInfo): OutcomeTone =>
  outcome === null ? 'running' : outcome === 'ok' ? 'ok' : isCancelled(outcome) ? 'cancelled' : 'failed';

/** Cancelled by the client, or by a person at a console. */
const isCancelled = (outcome: string): boolean => outcome.toLowerCase() === 'cancelled';

export const outcomeTitle = ({ outcome }: CallInfo): string =>
  outcome === null ? 'running' : isCancelled(outcome) ? 'cancelled' : outcome;
