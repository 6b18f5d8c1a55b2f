/** Short messages that an action succeeded, or why it failed. */
import { signal } from '@preact/signals';
import type { ActionName, ActionResponse, Actions, Problem } from '../../protocol.ts';
import { act } from './act.ts';

export interface PageMessage {
  readonly id: number;
  readonly kind: 'done' | 'failed';
  readonly title: string;
  readonly problem: Problem | null;
}

const SHOWN_MS = 5_000;
let count = 0;

export const messages = signal<readonly PageMessage[]>([]);

export const dismiss = (id: number): void =>
  void (messages.value = messages.peek().filter((message) => message.id !== id));

export function tell(title: string, problem: Problem | null = null): void {
  const message: PageMessage = {
    id: (count += 1),
    kind: problem === null ? 'done' : 'failed',
    title,
    problem,
  };
  messages.value = [...messages.peek(), message].slice(-4);
  // A failure stays until the user dismisses it.
  if (problem === null) setTimeout(() => dismiss(message.id), SHOWN_MS);
}

const PAST_TENSE = {
  approve: 'Approved',
  cancel: 'Cancelled',
  'check out': 'Checked out',
  disable: 'Disabled',
  enable: 'Enabled',
  'log in to': 'Logged in to',
  'log out of': 'Logged out of',
  reload: 'Reloaded',
  remove: 'Removed',
  restart: 'Restarted',
  start: 'Started',
  stop: 'Stopped',
};

/** Performs an action and shows the outcome: "Started memory", or "Could not start memory". */
export async function actAndTell<M extends ActionName>(
  verb: keyof typeof PAST_TENSE,
  object: string,
  method: M,
  params: Actions[M]['params'],
): Promise<ActionResponse<M>> {
  const response = await act(method, params);
  if (response.ok) tell(`${PAST_TENSE[verb]} ${object}`);
  else tell(`Could not ${verb} ${object}`, response.error);
  return response;
}
