import type { DetachedEnd, PortHolder } from '../../process/index.ts';
import type { ServiceDefinition } from '../config/definition.ts';
import { now } from './clock.ts';
import type { ServiceHealthResult, ServiceHealthCheck } from './health.ts';
import { watchLiveness, type StartedService } from './liveness.ts';
import type { PortWatch, PortWait } from './port-watch.ts';
import type { OwnerBatch } from './port-owners.ts';
import { addressesOf, firstToAccept, type LoopbackAddress } from './loopback-address.ts';

export type Readiness =
  | { readonly kind: 'ready' }
  /** Nobody of it lives any more. How the first process ended, if we know. */
  | { readonly kind: 'exited'; readonly how: DetachedEnd | undefined }
  | {
      readonly kind: 'late';
      /** Who listens on the port instead. */
      readonly stranger: PortHolder | undefined;
      /** What it last answered when it was asked for its health. */
      readonly health: string | undefined;
    }
  | { readonly kind: 'aborted' };

export interface ReadyOptions {
  readonly definition: ServiceDefinition;
  readonly ownerBatch: OwnerBatch;
  /** Opened with the same signal. */
  readonly portWatch: PortWatch;
  /** Stops the waiting, never the service. */
  readonly signal?: AbortSignal | undefined;
}

/** Between two questions to one who has accepted and is not ready, in milliseconds. */
const SLOW_POLL = 150;
/**
 * Every so many tries the other address family is tried too: many dev servers listen on `::1` only. Not at first, in
 * milliseconds: those that are quick are not among them, and it takes from all that are starting. Where we are told what
 * happens, there are few tries, and it is tried at each.
 */
const OTHER_FAMILY = 4;
const OTHER_FAMILY_AFTER = 300;
/** Between two tries where we are told, in milliseconds: of one that comes while another goes we may not hear. */
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
  const began = now();
  const deadline = began + definition.readyTimeout * 1000;
  // Both when somebody listens and when it ends. The end of one that somebody else has started has to be looked for.
  const isTold = (): boolean => portWatch.isSupported && liveness.changed() !== undefined;
  const untilListening = (): Promise<string | undefined> => {
    const least = pollAfter(now() - began, ownerBatch.present);
    const most = isTold() ? Math.max(least, TOLD_POLL) : least;
    const left = deadline - now();
    return portWait.untilListening(Math.min(least, left), Math.min(most, left));
  };
  // Nobody listens as soon as it is started.
  let listening = started.exited === undefined ? undefined : await untilListening();
  for (let attempt = 1; ; attempt++) {
    if (signal?.aborted === true) return { kind: 'aborted' };
    const end = await liveness.ended();
    if (end !== undefined) return { kind: 'exited', ...end };

    const both = isTold() || (attempt % OTHER_FAMILY === 0 && now() - began > OTHER_FAMILY_AFTER);
    // Where it is asked for its health, that is at the usual address if it listens there too.
    const seen = accepting(listening);
    const host = seen === usual ? seen : await firstToAccept(port, both ? [usual, other] : [usual]);
    const owner = host === undefined ? undefined : await ownerBatch.ownerOf(started.record);
    const answer =
      owner?.kind === 'own' && definition.health !== undefined
        ? await health({ health: definition.health, host: host!, port, timeout: HEALTH_TIMEOUT })
        : undefined;
    if (owner?.kind === 'own' && answer?.healthy !== false) return { kind: 'ready' };

    const stranger = owner?.kind === 'stranger' ? owner.holder : undefined;
    const left = deadline - now();
    if (left <= 0) return { kind: 'late', stranger, health: answer?.text };
    // An answer that is not good yet, from whomever, seldom changes soon, and is dear to get.
    if (owner !== undefined) await portWait.sleep(Math.min(SLOW_POLL, left));
    listening = owner === undefined ? await untilListening() : undefined;
  }
}

/**
 * Most services are up within a second; one that takes its time does not need to be asked so often. The more there are,
 * the longer the pause: what the asking costs is taken from those who are starting.
 */
function pollAfter(elapsed: number, present: number): number {
  return elapsed < 1500 ? 10 + present : elapsed < 5000 ? 40 : 100;
}

/**
 * Where one who listens on this address accepts a connection, which the kernel does for it. Undefined where that has to
 * be tried: one that listens for both families may also listen for IPv6 alone.
 */
function accepting(address: string | undefined): LoopbackAddress | undefined {
  if (address === '127.0.0.1' || address === '0.0.0.0') return '127.0.0.1';
  return address === '::1' ? '::1' : undefined;
}

/** Few services say how to ask them, and HTTP takes its time to load. */
async function health(question: ServiceHealthCheck): Promise<ServiceHealthResult> {
  const { checkServiceHealth } = await import('./health.ts');
  return checkServiceHealth(question);
}
