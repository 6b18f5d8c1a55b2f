/** Keeps the event stream open, and reports its state. */
import { effect, signal } from '@preact/signals';
import type { ConsoleEvent, Topic } from '../../protocol.ts';
import { act, HEADERS, onUnauthorized } from './act.ts';
import { readEvents } from './events.ts';
import { applyEvents, stream } from './live.ts';

type ConnectionState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'open' }
  /** `retryAt` is the time of the next attempt. */
  | { readonly kind: 'lost'; readonly since: number; readonly retryAt: number }
  /** The cookie is missing or no longer valid, so trying again does not help. */
  | { readonly kind: 'unauthorized' };

export const connectionState = signal<ConnectionState>({ kind: 'connecting' });

const SILENCE_MS = 40_000;
const LONGEST_WAIT_MS = 5_000;

let wake: () => void = () => undefined;
export const retryNow = (): void => wake();

export async function keepConnected(): Promise<never> {
  onUnauthorized(() => (connectionState.value = { kind: 'unauthorized' }));
  addEventListener('online', retryNow);
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') retryNow();
  });
  let wait = 0;
  let since = Date.now();
  for (;;) {
    const opened = await connectOnce();
    if (opened) {
      wait = 0;
      since = Date.now();
    }
    wait = Math.min(wait === 0 ? 250 : wait * 2, LONGEST_WAIT_MS);
    if (connectionState.peek().kind !== 'unauthorized')
      connectionState.value = { kind: 'lost', since, retryAt: Date.now() + wait };
    await new Promise<void>((resolve) => {
      wake = resolve;
      if (connectionState.peek().kind !== 'unauthorized') setTimeout(resolve, wait);
    });
  }
}

/** Limits how often the page is redrawn, however many events arrive. */
const DRAW_MS = 120;
let queue: ConsoleEvent[] = [];
let drawn = 0;
let drawing: ReturnType<typeof setTimeout> | undefined;

function takeEvents(events: readonly ConsoleEvent[]): void {
  queue.push(...events);
  drawing ??= setTimeout(
    () => {
      const all = queue;
      queue = [];
      drawn = Date.now();
      drawing = undefined;
      applyEvents(all);
    },
    Math.max(0, drawn + DRAW_MS - Date.now()),
  );
}

/** Resolves with whether the stream was open for a while. */
async function connectOnce(): Promise<boolean> {
  const controller = new AbortController();
  let silence: ReturnType<typeof setTimeout> | undefined;
  const heard = (): void => {
    clearTimeout(silence);
    silence = setTimeout(() => controller.abort(), SILENCE_MS);
  };
  let opened = false;
  try {
    heard();
    const response = await fetch('/console/events', { headers: HEADERS, signal: controller.signal });
    if (response.status === 401) connectionState.value = { kind: 'unauthorized' };
    if (!response.ok || response.body === null) return false;
    await readEvents(
      response.body,
      (data) => {
        takeEvents(JSON.parse(data) as ConsoleEvent[]);
        opened = true;
        if (connectionState.peek().kind !== 'open') connectionState.value = { kind: 'open' };
      },
      heard,
    );
  } catch {
    // The connection broke; the reason makes no difference to how it is shown and retried.
  } finally {
    clearTimeout(silence);
    controller.abort();
  }
  return opened;
}

/** The topics that the screens need, besides what every page receives. */
const wanted = signal<readonly Topic[]>(['calls', 'logs']);
let chosen = '';

/** Subscribes to a topic until the returned function is called. */
export function chooseTopic(topic: Topic): () => void {
  wanted.value = [...wanted.peek(), topic];
  return () => {
    const topics = [...wanted.peek()];
    topics.splice(topics.indexOf(topic), 1);
    wanted.value = topics;
  };
}

export function keepTopics(): void {
  effect(() => {
    const topics = [...new Set(wanted.value)];
    const id = stream.value?.id;
    if (id === undefined || chosen === `${id} ${topics.join()}`) return;
    chosen = `${id} ${topics.join()}`;
    void act('stream.topics', { stream: id, topics });
  });
}
