import type { ServiceRecord } from '../../records/state/records.ts';

/**
 * The result of starting a service:
 * - `ready`: started and ready; `already-running`: the same, but started by another command
 * - `started`: started, not waited for
 * - `not-ready`: it runs, but was not ready in time
 * - `exited`: it ended before it was ready
 * - `not-started`: it could not be started, or a dependency is not ready
 */
export type StartResult = 'ready' | 'already-running' | 'started' | 'not-ready' | 'exited' | 'not-started';

export interface ServiceOutcome {
  readonly service: string;
  readonly result: StartResult;
  /** A summary in one sentence. */
  readonly message: string;
  /** More lines: the next step, the end of its log. */
  readonly details: readonly string[];
  /** Null if it was not started; the same applies below. */
  readonly url: string | null;
  readonly port: number | null;
  readonly pid: number | null;
  readonly log_file: string | null;
  /** The exit code, if it exited and the code was recorded. */
  readonly exit_code?: number;
}

/** Whether the service is in the requested state. */
export function isGood({ result }: ServiceOutcome): boolean {
  return result === 'ready' || result === 'already-running' || result === 'started';
}

/** All outcomes as lines of text. */
export function tellOutcomes(outcomes: readonly ServiceOutcome[]): readonly string[] {
  return outcomes.flatMap(({ message, details }) => [message, ...details.map((line) => `  ${line}`)]);
}

/** The facts about a started service. */
export function factsOf({ service, url, port, pid, log_file }: ServiceRecord) {
  return { service, url, port, pid, log_file };
}

export function notStarted(
  service: string,
  message: string,
  details: readonly string[] = [],
): ServiceOutcome {
  const facts = { url: null, port: null, pid: null, log_file: null };
  return { service, result: 'not-started', message, details, ...facts };
}
