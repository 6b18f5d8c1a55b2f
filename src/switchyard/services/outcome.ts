import type { ServiceRecord } from '../state/records.ts';

/**
 * What became of a service that was to be started:
 * - `ready`: started, and it answers; `already-running`: the same, and somebody else had started it
 * - `started`: started, and not waited for
 * - `not-ready`: it runs, but it did not answer in time
 * - `exited`: it ended before it was ready
 * - `not-started`: it could not be started, or what it depends on is not ready
 */
export type StartResult = 'ready' | 'already-running' | 'started' | 'not-ready' | 'exited' | 'not-started';

export interface ServiceOutcome {
  readonly service: string;
  readonly result: StartResult;
  /** One sentence about it. */
  readonly message: string;
  /** What else there is to know, one line each: the next step, the end of its log. */
  readonly details: readonly string[];
  /** Null when it was not started, and likewise below. */
  readonly url: string | null;
  readonly port: number | null;
  readonly pid: number | null;
  readonly log_file: string | null;
  /** Of one that has exited, if anybody noted it. */
  readonly exit_code?: number;
}

/** Whether the service does what was asked for. */
export function isGood({ result }: ServiceOutcome): boolean {
  return result === 'ready' || result === 'already-running' || result === 'started';
}

/** All of them as lines for people. */
export function tellOutcomes(outcomes: readonly ServiceOutcome[]): readonly string[] {
  return outcomes.flatMap(({ message, details }) => [message, ...details.map((line) => `  ${line}`)]);
}

/** What is known of one that was started. */
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
