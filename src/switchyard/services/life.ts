import { setTimeout as pause } from 'node:timers/promises';
import type { DetachedEnd } from '../../process/index.ts';
import type { ServiceRecord } from '../state/records.ts';
import { now } from './clock.ts';
import { observeServices } from './observe.ts';

/** A service that was started, by us or by somebody before us. */
export interface Started {
  readonly record: ServiceRecord;
  /** How the process that we started ended; undefined when another command started it. */
  readonly exited: Promise<DetachedEnd> | undefined;
}

export interface Life {
  /** Undefined while anybody of the service lives; then how it ended, as far as we can know. */
  over(): Promise<{ readonly how: DetachedEnd | undefined } | undefined>;
  /** Resolves when there is reason to ask again at once; undefined when nobody will tell us. */
  news(): Promise<void> | undefined;
}

/** How often we look for processes of which nobody tells us the end, in milliseconds. */
const LOOK_POLL = 500;
/** A process in the middle of `exec` shows no environment: one look that finds nobody proves nothing. In milliseconds. */
const SECOND_LOOK = 25;

/**
 * Watches whether a service lives. As long as the process that we started does, nothing needs to be looked for. Its end
 * is not the end of the service: many programs go on in the background under another process.
 */
export function watchLife({ record, exited }: Started): Life {
  let how: DetachedEnd | undefined;
  let nextLook = exited === undefined ? 0 : Infinity;
  const news = exited?.then((end) => {
    how = end;
    nextLook = 0;
  });
  return {
    async over() {
      if (now() < nextLook) return undefined;
      if (anybodyLives(record) || (await pause(SECOND_LOOK).then(() => anybodyLives(record)))) {
        nextLook = now() + LOOK_POLL;
        return undefined;
      }
      return { how };
    },
    news: () => (how === undefined ? news : undefined),
  };
}

function anybodyLives(record: ServiceRecord): boolean {
  return observeServices([record])[0]!.status !== 'stale';
}
