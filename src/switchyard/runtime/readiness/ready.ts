import { setTimeout as pause } from 'node:timers/promises';
import type { DetachedEnd } from '../../../process/index.ts';
import type { ServiceDefinition } from '../../records/config/definition.ts';
import type { ServiceRecord } from '../../records/state/records.ts';
import { observeServices } from '../processes/observe.ts';
import { addressesOf, firstToAccept } from '../sockets/loopback-address.ts';
import type { ServiceHealthCheck, ServiceHealthResult } from './health.ts';
import { observeOwners } from './port-owners.ts';

/** A service that was started, by this command or an earlier one. */
export interface StartedService {
  readonly record: ServiceRecord;
  /** How the process that we started ended; undefined when another command started it. */
  readonly exited: Promise<DetachedEnd> | undefined;
}

export type Readiness =
  | { readonly kind: 'ready' }
  /** No process of it runs any more. `how` the first process ended, if known. */
  | { readonly kind: 'exited'; readonly how: DetachedEnd | undefined }
  | {
      readonly kind: 'late';
      /** Whether another process listens on the port instead. */
      readonly stranger: boolean;
      /** The result of the last health check. */
      readonly health: string | undefined;
    }
  | { readonly kind: 'aborted' };

export interface ReadyOptions {
  readonly definition: ServiceDefinition;
  /** Aborts the wait, never the service. */
  readonly signal?: AbortSignal | undefined;
}

/** The first and the longest pause between two attempts, in milliseconds, and the growth from one to the next. */
const FIRST_PAUSE = 10;
const LONGEST_PAUSE = 250;
const GROWTH = 1.3;
/** How often to look for processes whose exit raises no event, in milliseconds. */
const LOOK_EVERY = 500;
/** In milliseconds. */
const HEALTH_TIMEOUT = 2000;

/**
 * Waits until the port of a service accepts connections, the listener is a process of that service, and its health
 * check, if it has one, passes. Another process that responds on the port does not count.
 */
export async function awaitReady(
  { record, exited }: StartedService,
  { definition, signal }: ReadyOptions,
): Promise<Readiness> {
  const { port } = record;
  const deadline = performance.now() + definition.readyTimeout * 1000;
  let how: DetachedEnd | undefined;
  // While the process that we started runs, the service does.
  let nextLook = exited === undefined ? 0 : Infinity;
  let wake = (): void => undefined;
  void exited?.then((end) => {
    how = end;
    nextLook = 0;
    wake();
  });
  const onAbort = (): void => wake();
  signal?.addEventListener('abort', onAbort);
  const sleep = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(
        resolve,
        Math.min(milliseconds, Math.min(deadline, nextLook) - performance.now()),
      );
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  try {
    for (let time = FIRST_PAUSE; ; time = Math.min(time * GROWTH, LONGEST_PAUSE)) {
      // At the beginning too: no service listens right after its start.
      if (signal?.aborted !== true) await sleep(time);
      if (signal?.aborted === true) return { kind: 'aborted' };
      if (performance.now() >= nextLook) {
        if (!(await runs(record))) return { kind: 'exited', how };
        nextLook = performance.now() + LOOK_EVERY;
      }
      // Many dev servers listen only on `::1`, whatever is configured.
      const host = await firstToAccept(port, addressesOf(definition.host));
      const owner = host === undefined ? undefined : observeOwners([record])[0]?.owner;
      const health =
        host !== undefined && owner?.kind === 'own' && definition.health !== undefined
          ? await checkHealth({ health: definition.health, host, port, timeout: HEALTH_TIMEOUT })
          : undefined;
      if (owner?.kind === 'own' && health?.healthy !== false) return { kind: 'ready' };
      if (performance.now() >= deadline)
        return { kind: 'late', stranger: owner?.kind === 'stranger', health: health?.text };
    }
  } finally {
    signal?.removeEventListener('abort', onAbort);
  }
}

/** A process in the middle of `exec` shows no environment, so one empty result proves nothing. In milliseconds. */
const SECOND_LOOK = 25;

/** Many programs continue in another process in the background when the first one ends. */
async function runs(record: ServiceRecord): Promise<boolean> {
  const isSeen = (): boolean => observeServices([record]).some(({ status }) => status !== 'stale');
  return isSeen() || (await pause(SECOND_LOOK).then(isSeen));
}

/** Few services have a health check, and HTTP is slow to load. */
async function checkHealth(check: ServiceHealthCheck): Promise<ServiceHealthResult> {
  const { checkServiceHealth } = await import('./health.ts');
  return checkServiceHealth(check);
}
