import { connect } from 'node:net';
import type { DetachedEnd, PortHolder } from '../../process/index.ts';
import type { ServiceDefinition } from '../config/definition.ts';
import { connectHost } from '../config/loopback.ts';
import type { HealthAnswer, HealthQuestion } from './health.ts';
import { watchLife, type Started } from './life.ts';
import type { OwnershipJudge } from './ownership.ts';

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
  readonly judge: OwnershipJudge;
  /** Stops the waiting, never the service. */
  readonly signal?: AbortSignal | undefined;
}

/** Between two questions to one who has accepted and is not ready, in milliseconds. */
const SLOW_POLL = 150;
/**
 * Every so many tries the other address family is tried too: many dev servers listen on `::1` only. Not at first, in
 * milliseconds: those that are quick are not among them, and it takes from all that are starting.
 */
const OTHER_FAMILY = 4;
const OTHER_FAMILY_AFTER = 300;
/** In milliseconds. */
const CONNECT_TIMEOUT = 500;
const HEALTH_TIMEOUT = 2000;

/**
 * Waits until the port of a service accepts connections, the listener is a process of that service, and its health is
 * good where it has one. Whoever else may answer on the port does not count.
 */
export async function awaitReady(started: Started, options: ReadyOptions): Promise<Readiness> {
  const { judge } = options;
  judge.enter();
  try {
    return await waitFor(started, options);
  } finally {
    judge.leave();
  }
}

async function waitFor(started: Started, { definition, judge, signal }: ReadyOptions): Promise<Readiness> {
  const { port } = started.record;
  const [usual, other] = familiesOf(definition);
  const life = watchLife(started);
  const began = performance.now();
  const deadline = began + definition.readyTimeout * 1000;
  for (let attempt = 1; ; attempt++) {
    if (signal?.aborted === true) return { kind: 'aborted' };
    const end = await life.over();
    if (end !== undefined) return { kind: 'exited', ...end };

    const both = attempt % OTHER_FAMILY === 0 && performance.now() - began > OTHER_FAMILY_AFTER;
    const host = await firstToAccept(port, both ? [usual, other] : [usual]);
    const owner = host === undefined ? undefined : await judge.ask(started.record);
    const answer =
      owner?.kind === 'own' && definition.health !== undefined
        ? await health({ health: definition.health, host: host!, port, timeout: HEALTH_TIMEOUT })
        : undefined;
    if (owner?.kind === 'own' && answer?.healthy !== false) return { kind: 'ready' };

    const stranger = owner?.kind === 'stranger' ? owner.holder : undefined;
    const left = deadline - performance.now();
    if (left <= 0) return { kind: 'late', stranger, health: answer?.text };
    // An answer that is not good yet, from whomever, seldom changes soon, and is dear to get.
    const poll = owner === undefined ? pollAfter(performance.now() - began, judge.present) : SLOW_POLL;
    await rest(Math.min(poll, left), life.news(), signal);
  }
}

/**
 * Most services are up within a second; one that takes its time does not need to be asked so often. The more there are,
 * the longer the pause: what the asking costs is taken from those who are starting.
 */
function pollAfter(elapsed: number, present: number): number {
  return elapsed < 1500 ? 10 + present : elapsed < 5000 ? 40 : 100;
}

type Address = '127.0.0.1' | '::1';

function familiesOf({ host }: ServiceDefinition): readonly [Address, Address] {
  return connectHost(host) === '::1' ? ['::1', '127.0.0.1'] : ['127.0.0.1', '::1'];
}

async function firstToAccept(port: number, hosts: readonly Address[]): Promise<Address | undefined> {
  for (const host of hosts) if (await accepts(port, host)) return host;
  return undefined;
}

function accepts(port: number, host: Address): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host });
    const finish = (accepted: boolean): void => {
      socket.destroy();
      resolve(accepted);
    };
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
    // On loopback only a listener that is overrun lets one wait.
    socket.setTimeout(CONNECT_TIMEOUT, () => finish(false));
  });
}

/** Few services say how to ask them, and HTTP takes its time to load. */
async function health(question: HealthQuestion): Promise<HealthAnswer> {
  const { askHealth } = await import('./health.ts');
  return askHealth(question);
}

/** Ends after the time, with the news, or with the signal, whichever is first. */
async function rest(
  time: number,
  news: Promise<void> | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  await new Promise<void>((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, time);
    signal?.addEventListener('abort', finish, { once: true });
    void news?.then(finish);
  });
}
