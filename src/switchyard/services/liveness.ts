import { setTimeout as pause } from 'node:timers/promises';
import type { DetachedEnd } from '../../process/index.ts';
import type { ServiceRecord } from '../state/records.ts';
import { observeServices } from './observe.ts';

/** A service that was started, by this command or an earlier one. */
export interface StartedService {
  readonly record: ServiceRecord;
  /** How the process that we started ended; undefined when another command started it. */
  readonly exited: Promise<DetachedEnd> | undefined;
}

export interface Liveness {
  /** Undefined while any process of the service lives; then how it ended, as far as known. */
  ended(): Promise<{ readonly how: DetachedEnd | undefined } | undefined>;
  /** Resolves when `ended` should be called again immediately; undefined without such an event. */
  changed(): Promise<void> | undefined;
}

/** How often to look for processes whose exit raises no event, in milliseconds. */
const LOOK_POLL = 500;
/** A process in the middle of `exec` shows no environment, so one empty result proves nothing. In milliseconds. */
const SECOND_LOOK = 25;

/**
 * Watches whether a service runs. While the process that we started runs, no check is needed. Its exit is not the end
 * of the service: many programs continue in another process in the background.
 */
export function watchLiveness({ record, exited }: StartedService): Liveness {
  let how: DetachedEnd | undefined;
  let nextLook = exited === undefined ? 0 : Infinity;
  const changed = exited?.then((end) => {
    how = end;
    nextLook = 0;
  });
  return {
    async ended() {
      if (performance.now() < nextLook) return undefined;
      if (anybodyLives(record) || (await pause(SECOND_LOOK).then(() => anybodyLives(record)))) {
        nextLook = performance.now() + LOOK_POLL;
        return undefined;
      }
      return { how };
    },
    changed: () => (how === undefined ? changed : undefined),
  };
}

function anybodyLives(record: ServiceRecord): boolean {
  return observeServices([record])[0]!.status !== 'stale';
}
