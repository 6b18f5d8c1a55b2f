import { createSocketCounter, listeningOn } from '../../process/index.ts';

/**
 * Watches ports with one timer and reports when a process starts to listen on them, where the kernel provides socket
 * counts. Probing a closed port costs as much as probing an open one, and that CPU time is taken from the services that
 * are starting. Counting sockets is almost free, so listeners are looked up only after the count has changed.
 */
export interface PortWatch {
  /** Whether the kernel provides socket counts. Without them no listener is ever reported. */
  readonly isSupported: boolean;
  /** Forgets the listeners seen so far. Call it before starting the services to wait for. */
  reset(): void;
  /** Adds a port to watch. `expected`: a listener should appear soon; otherwise it may already exist. */
  add(port: number, expected: boolean): PortWait;
  /** Stops watching. Pending waits get no further reports. */
  close(): void;
}

export interface PortWait {
  /**
   * Resolves when a listener has appeared on the port since the last poll, but not before `least` milliseconds; after
   * `most` in any case, and after `least` without socket counts. Returns the bound address, or undefined if no listener
   * was seen: a socket that opens while another one closes goes unnoticed.
   */
  untilListening(least: number, most: number): Promise<string | undefined>;
  /** Resolves after this time, in milliseconds. */
  sleep(time: number): Promise<void>;
  /** Ends the pending wait immediately, or the next one if none is pending. */
  wake(): void;
  close(): void;
}

interface WatchedPort {
  readonly port: number;
  /** Whether a listener is expected that was not reported yet. */
  wanted: boolean;
  /** The address a listener has bound. */
  address?: string | undefined;
  /** The earliest and the latest time the wait may end. */
  from: number;
  until: number;
  /** Between two polls, in milliseconds. */
  pace: number;
  /** Whether the next wait ends immediately. */
  woken: boolean;
  end?: (() => void) | undefined;
}

const FAMILIES = ['v4', 'v6'] as const;
/** While some listeners are missing, new ones wait this long, in milliseconds, to be looked up together: a lookup is slow. */
const BATCH_MS = 50;

/** The signal ends all waits. */
export function openPortWatch(signal?: AbortSignal): PortWatch {
  const counter = createSocketCounter();
  const tells = counter.count().v4 !== undefined;
  const allWatched = new Set<WatchedPort>();
  /** The counts of the last poll, and how many sockets have opened since the last lookup. */
  let lastCounts = counter.count();
  const opened = { v4: 0, v6: 0 };
  /** Whether sockets have closed since: then more may have opened than the counts show. */
  const someClosed = { v4: false, v6: false };
  /** When the count first changed. */
  let since = Infinity;
  let timer: NodeJS.Timeout | undefined;
  let nextPoll = Infinity;

  const schedule = (at: number): void => {
    if (at >= nextPoll) return;
    clearTimeout(timer);
    nextPoll = at;
    timer = setTimeout(poll, Math.ceil(at - performance.now()));
  };
  const poll = (): void => {
    nextPoll = Infinity;
    const time = performance.now();
    count();
    const missing = [...allWatched].filter(({ wanted, address }) => wanted && address === undefined);
    if (opened.v4 + opened.v6 >= missing.length || time >= since + BATCH_MS) lookUp(missing);
    for (const watched of allWatched) {
      if (watched.end === undefined) continue;
      const canEnd = watched.address !== undefined || !tells;
      if (time >= watched.until || (canEnd && time >= watched.from)) watched.end();
      else schedule(Math.min(Math.max(watched.from, time + watched.pace), watched.until));
    }
  };
  const count = (): void => {
    const counts = counter.count();
    for (const family of FAMILIES) {
      const more = (counts[family] ?? 0) - (lastCounts[family] ?? 0);
      if (more !== 0) since = Math.min(since, performance.now());
      opened[family] += Math.max(0, more);
      someClosed[family] ||= more < 0;
    }
    lastCounts = counts;
  };
  const lookUp = (missing: readonly WatchedPort[]): void => {
    for (const family of FAMILIES) {
      const ports = missing.filter(({ address }) => address === undefined).map(({ port }) => port);
      const most = someClosed[family] ? ports.length : Math.min(opened[family], ports.length);
      const found = most === 0 ? undefined : listeningOn(family, ports, most);
      for (const watched of missing) watched.address ??= found?.get(watched.port);
      opened[family] = 0;
      someClosed[family] = false;
    }
    since = Infinity;
  };
  const wait = (watched: WatchedPort, least: number, most: number): Promise<void> =>
    new Promise((resolve) => {
      const began = performance.now();
      Object.assign(watched, { from: began + least, until: began + most, pace: least });
      watched.end = () => {
        watched.end = undefined;
        resolve();
      };
      if (watched.woken) watched.end();
      else schedule(watched.from);
      watched.woken = false;
    });
  const wake = (watched: WatchedPort): void => {
    watched.woken = watched.end === undefined;
    watched.end?.();
  };
  const wakeAll = (): void => allWatched.forEach(wake);
  signal?.addEventListener('abort', wakeAll);

  return {
    isSupported: tells,
    reset() {
      count();
      lookUp([...allWatched].filter(({ wanted }) => wanted));
    },
    add(port, expected) {
      const watched: WatchedPort = {
        port,
        wanted: expected,
        from: 0,
        until: 0,
        pace: 0,
        woken: signal?.aborted === true,
      };
      allWatched.add(watched);
      return {
        async untilListening(least, most) {
          watched.wanted = true;
          await wait(watched, least, most);
          const { address } = watched;
          watched.wanted = address === undefined;
          watched.address = undefined;
          return address;
        },
        sleep: (time) => wait(watched, time, time),
        wake: () => wake(watched),
        close() {
          allWatched.delete(watched);
          if (allWatched.size > 0) return;
          clearTimeout(timer);
          nextPoll = Infinity;
        },
      };
    },
    close() {
      signal?.removeEventListener('abort', wakeAll);
      counter.close();
    },
  };
}
