import { heldBy, readExit, type DetachedEnd } from '../../../process/index.ts';
import type { YardContext } from '../../records/project/context.ts';
import { envSecretMask } from '../../records/project/env-secrets.ts';
import { insideLogs } from '../../records/state/home.ts';
import type { ServiceRecord } from '../../records/state/records.ts';
import { tailLog } from '../logs/tail.ts';
import { reachedByLocalhost } from '../ports/listeners.ts';
import { holderOf, listensInstead } from '../ports/port-taken.ts';
import { exitFileOf, describeExit } from '../processes/exit.ts';
import { observeServices, type Observed } from '../processes/observe.ts';
import type { Readiness } from '../readiness/ready.ts';
import { missingPackages } from './missing-packages.ts';
import { factsOf, notStarted, type ServiceOutcome } from './outcome.ts';

/** Number of log lines shown for a service that has ended. */
const SHOWN_LINES = 20;

/** Explains why a started service is not ready and what to do. Queries the system as necessary. */
export function explainTrouble(
  context: YardContext,
  record: ServiceRecord,
  readiness: Exclude<Readiness, { kind: 'ready' | 'aborted' }>,
  /** How long it was waited for, in seconds. */
  waited: number,
): ServiceOutcome {
  return readiness.kind === 'exited'
    ? explainExit(context, record, readiness.how)
    : explainLate(record, readiness, waited);
}

/** If that process is the service, starting a second one would leave the first one untracked. */
export function explainUnverified({ record: { service, pid } }: Observed): ServiceOutcome {
  const message = `${service} was not started: pid ${pid ?? 0} may still be it, but nothing proves it`;
  return notStarted(service, message, [
    `Check that process, and end it if it is the service; or forget it with \`switchyard down --force ${service}\`.`,
  ]);
}

function explainExit(
  context: YardContext,
  record: ServiceRecord,
  how: DetachedEnd | undefined,
): ServiceOutcome {
  const { service, port, log_file } = record;
  const code = how?.code ?? readExit(exitFileOf(log_file))?.code;
  const holder = holderOf(port);
  const because = holder === undefined ? '' : `; ${holder}`;
  return {
    ...factsOf(record),
    result: 'exited',
    message: `${service} ${describeExit(code, how?.signal)} before it was ready${because}; see ${log_file}`,
    // The record may have been tampered with.
    details: [
      ...(insideLogs(context.home, log_file)
        ? tailLog(log_file, SHOWN_LINES)
            .filter((line) => line.trim() !== '')
            .map(envSecretMask(context))
        : []),
      ...missingPackages(record.cwd ?? record.worktree),
    ],
    ...(code === undefined ? {} : { exit_code: code }),
  };
}

function explainLate(
  record: ServiceRecord,
  { stranger, health }: Extract<Readiness, { kind: 'late' }>,
  waited: number,
): ServiceOutcome {
  const { service, port, log_file } = record;
  const pids = observeServices([record]).flatMap((observed) => observed.pids);
  const other = stranger ? listensInstead(port, pids) : undefined;
  const reason = other ?? health ?? tellListening(port, pids);
  return {
    ...factsOf(record),
    result: 'not-ready',
    message: `${service} is not ready after ${waited} s: ${reason}; it is still running, see ${log_file}`,
    details: [],
  };
}

/** A program that ignores `PORT` listens on its own default port. */
function tellListening(port: number, pids: readonly number[]): string {
  const ports = heldBy(pids);
  const addresses = new Set(ports.filter((holder) => holder.port === port).map(({ address }) => address));
  if ([...addresses].some(reachedByLocalhost)) return `it has just started to listen on port ${port}`;
  if (addresses.size > 0)
    return `it listens on port ${port} of ${[...addresses].join(' and ')}; make it listen on 127.0.0.1`;
  const found = [...new Set(ports.map((holder) => holder.port))].sort((a, b) => a - b);
  if (found.length === 0) return `it does not listen on port ${port}`;
  return `it listens on ${found.join(' and ')} instead of ${port}; pass {port} in its command`;
}
