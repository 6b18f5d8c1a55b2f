import type { DetachedEnd, PortHolder } from '../../process/index.ts';
import type { ServiceDefinition } from '../config/definition.ts';
import type { ServiceHealthResult, ServiceHealthCheck } from './health.ts';
import { watchLiveness, type StartedService } from './liveness.ts';
import type { PortWatch, PortWait } from './port-watch.ts';
import type { OwnerBatch } from './port-owners.ts';
import { addressesOf, firstToAccept, type LoopbackAddress } from './loopback-address.ts';

export type Readiness =
  | { readonly kind: 'ready' }
  /** No process of it runs any more. `how` the first process ended, if known. */
  | { readonly kind: 'exited'; readonly how: DetachedEnd | undefined }
  | {
      readonly kind: 'late';
      /** The process that listens on the port instead. */
      readonly stranger: PortHolder | undefined;
      /** The result of the last health check. */
      readonly health: string | undefined;
    }
  | { readonly kind: 'aborted' };

export interface ReadyOptions {
  readonly definition: ServiceDefinition;
  readonly ownerBatch: OwnerBatch;
  /** Opened with the same signal. */
  readonly portWatch: PortWatch;
  /** Aborts the wait, never the service. */
  readonly signal?: AbortSignal | undefined;
}

/** Poll interval once the port accepts connections but is not ready, in milliseconds. */
const SLOW_POLL = 150;
/**
 * Every so many attempts, the other address family is tried too: many dev servers listen only on `::1`. Not at first
 * (in milliseconds): fast services are not among them, and probing takes CPU time from all that are starting. With
 * events there are few attempts, and each tries both.
 */
const OTHER_FAMILY = 4;
const OTHER_FAMILY_AFTER = 300;
/**
 * Poll interval where events report changes, in milliseconds: a socket that opens while another one closes may go
 * unnoticed.
 */
const TOLD_POLL = 500;
/** In milliseconds. */
const HEALTH_TIMEOUT = 2000;

/**
 * Waits until the port of a service is open, the listener is a process of that service, and its health check, if it has
 * one, passes. Another process that responds on the port does not count.
 */
export async function awaitReady(started: StartedService, options: ReadyOptions): Promise<Readiness> {
  const { ownerBatch, portWatch } = options;
  const portWait = portWatch.add(started.record.port, started.exited !== undefined);
  ownerBatch.enter();
  try {
    return await waitFor(started, options, portWait);
  } finally {
    ownerBatch.leave();
    portWait.close();
  }
}

async function waitFor(
  started: StartedService,
  { definition, ownerBatch, portWatch, signal }: ReadyOptions,
  portWait: PortWait,
): Promise<Readiness> {
  const { port } = started.record;
  const [usual, other] = addressesOf(definition.host);
  const liveness = watchLiveness(started);
  void liveness.changed()?.then(() => portWait.wake());
  const began = performance.now();
  const deadline = began + definition.readyTimeout * 1000;
  // Whether events report both a listener and the exit. The exit of a service started by another command must be
  // polled.
  const isTold = (): boolean => portWatch.isSupported && liveness.changed() !== undefined;
  const untilListening = (): Promise<string | undefined> => {
    const least = pollAfter(performance.now() - began, ownerBatch.present);
    const most = isTold() ? Math.max(least, TOLD_POLL) : least;
    const left = deadline - performance.now();
    return portWait.untilListening(Math.min(least, left), Math.min(most, left));
  };
  // A service does not listen right after its start.
  let listening = started.exited === undefined ? undefined : await untilListening();
  for (let attempt = 1; ; attempt++) {
    if (signal?.aborted === true) return { kind: 'aborted' };
    const end = await liveness.ended();
    if (end !== undefined) return { kind: 'exited', ...end };

    const both = isTold() || (attempt % OTHER_FAMILY === 0 && performance.now() - began > OTHER_FAMILY_AFTER);
    // The health check uses the configured address if the service listens there too.
    const seen = accepting(listening);
    const host = seen === usual ? seen : await firstToAccept(port, both ? [usual, other] : [usual]);
    const owner = host === undefined ? undefined : await ownerBatch.ownerOf(started.record);
    const answer =
      owner?.kind === 'own' && definition.health !== undefined
        ? await health({ health: definition.health, host: host!, port, timeout: HEALTH_TIMEOUT })
        : undefined;
    if (owner?.kind === 'own' && answer?.healthy !== false) return { kind: 'ready' };

    const stranger = owner?.kind === 'stranger' ? owner.holder : undefined;
    const left = deadline - performance.now();
    if (left <= 0) return { kind: 'late', stranger, health: answer?.text };
    // A failed check seldom changes soon, and is expensive.
    if (owner !== undefined) await portWait.sleep(Math.min(SLOW_POLL, left));
    listening = owner === undefined ? await untilListening() : undefined;
  }
}

/**
 * Most services are up within a second; slow ones are polled less often. With more services the pause grows, because
 * polling takes CPU time from those that are starting.
 */
function pollAfter(elapsed: number, present: number): number {
  return elapsed < 1500 ? 10 + present : elapsed < 5000 ? 40 : 100;
}

/**
 * The address where a listener on `address` accepts connections. Undefined if that must be tried: a wildcard IPv6
 * listener may or may not accept IPv4.
 */
function accepting(address: string | undefined): LoopbackAddress | undefined {
  if (address === '127.0.0.1' || address === '0.0.0.0') return '127.0.0.1';
  return address === '::1' ? '::1' : undefined;
}

/** Few services have a health check, and HTTP is slow to load. */
async function health(question: ServiceHealthCheck): Promise<ServiceHealthResult> {
  const { checkServiceHealth } = await import('./health.ts');
  return checkServiceHealth(question);
}
