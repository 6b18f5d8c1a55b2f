/** The tools that this page tries. They continue while another screen is shown. */
import { signal, type Signal } from '@preact/signals';
import type { Problem, TrialEvent } from '../../protocol.ts';
import { act } from './act.ts';
import { onTrial, stream } from './live.ts';

export type TrialRequest = Extract<TrialEvent, { kind: 'request' }>;
type Progress = Extract<TrialEvent, { kind: 'progress' }>;
export type JsonObjectValue = Readonly<Record<string, unknown>>;

export interface Trial {
  /** Its arguments, as edited so far. */
  readonly args: JsonObjectValue | null;
  /** Null while it is not running. */
  readonly running: {
    readonly id: string;
    readonly since: number;
    readonly progress: Progress | null;
  } | null;
  /** Requests that the server has sent meanwhile. */
  readonly requests: readonly TrialRequest[];
  readonly log: readonly { readonly level: string; readonly data: unknown }[];
  readonly outcome:
    | { readonly kind: 'done'; readonly result: JsonObjectValue; readonly ms: number }
    | { readonly kind: 'failed'; readonly problem: Problem; readonly ms: number }
    | null;
}

const MOST_LOG_LINES = 200;
const NOTHING: Trial = { args: null, running: null, requests: [], log: [], outcome: null };

const trialsByTool = new Map<string, Signal<Trial>>();

export interface ToolName {
  readonly gateway: string;
  readonly server: string;
  readonly tool: string;
}

export function trialOf({ gateway, server, tool }: ToolName): Signal<Trial> {
  const key = JSON.stringify([gateway, server, tool]);
  const known = trialsByTool.get(key) ?? signal(NOTHING);
  trialsByTool.set(key, known);
  return known;
}

const changeTrial = (trial: Signal<Trial>, changes: Partial<Trial>): void =>
  void (trial.value = { ...trial.peek(), ...changes });

export const setArguments = (name: ToolName, args: JsonObjectValue): void =>
  changeTrial(trialOf(name), { args });

export async function runTool(name: ToolName): Promise<void> {
  const trial = trialOf(name);
  const { args, running } = trial.peek();
  const streamId = stream.peek()?.id;
  if (running !== null || streamId === undefined) return;
  const id = crypto.randomUUID();
  const since = Date.now();
  changeTrial(trial, { running: { id, since, progress: null }, requests: [], log: [], outcome: null });
  const stop = onTrial(id, (event) => takeEvent(trial, event));
  const response = await act('tools.call', { ...name, stream: streamId, trial: id, arguments: args ?? {} });
  stop();
  changeTrial(trial, {
    running: null,
    requests: [],
    outcome: response.ok
      ? { kind: 'done', ...response.result }
      : { kind: 'failed', problem: response.error, ms: Date.now() - since },
  });
}

export async function cancelTool(name: ToolName): Promise<void> {
  const id = trialOf(name).peek().running?.id;
  if (id !== undefined) await act('tools.cancel', { trial: id });
}

type Answer =
  | { readonly result: JsonObjectValue }
  | { readonly error: { readonly code: number; readonly message: string } };

/** Resolves with why the answer could not be sent, or null. */
export async function answerRequest(
  name: ToolName,
  request: string,
  answer: Answer,
): Promise<Problem | null> {
  const trial = trialOf(name);
  const id = trial.peek().running?.id;
  if (id === undefined) return null;
  const response = await act('tools.answer', { trial: id, request, ...answer });
  if (!response.ok) return response.error;
  withdraw(trial, request);
  return null;
}

const withdraw = (trial: Signal<Trial>, request: string): void =>
  changeTrial(trial, { requests: trial.peek().requests.filter((each) => each.request !== request) });

function takeEvent(trial: Signal<Trial>, event: TrialEvent): void {
  const { running, requests, log } = trial.peek();
  if (running === null) return;
  switch (event.kind) {
    case 'progress': {
      changeTrial(trial, { running: { ...running, progress: event } });
      return;
    }
    case 'request': {
      changeTrial(trial, { requests: [...requests, event] });
      return;
    }
    case 'request-withdrawn': {
      withdraw(trial, event.request);
      return;
    }
    case 'log': {
      changeTrial(trial, { log: [...log, event].slice(-MOST_LOG_LINES) });
      return;
    }
  }
}
