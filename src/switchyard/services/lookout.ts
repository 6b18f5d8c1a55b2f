import { createSocketCounter, listeningOn } from '../../process/index.ts';
import { now } from './clock.ts';

/**
 * Tells those who wait for their ports when somebody begins to listen there, all by one timer, as far as the kernel lets
 * itself be asked. To try a port that nobody listens on costs as much as to try one that somebody does, and what it costs
 * is taken from those who are starting. But how many sockets there are is known for nothing; and only when that has
 * become another number, it is looked up who listens.
 */
export interface Lookout {
  /** Whether the kernel tells. If not, nobody ever seems to listen. */
  readonly tells: boolean;
  /** Forgets who has come so far. To be called before those are started who will be waited for. */
  begin(): void;
  /** One who is going to wait for this port. Whether it is expected to come soon, or may be there already. */
  enter(port: number, expected: boolean): Waiting;
  /** Nobody is going to wait any more. Who still does is told nothing from now on. */
  close(): void;
}

export interface Waiting {
  /**
   * Ends when somebody is seen to listen on the port who may have begun since the last look, but not before `least`
   * milliseconds; after `most` in any case, and where the kernel does not tell, after `least`. The address, as bound;
   * undefined when nobody was seen: that somebody comes while as many others go is not noticed.
   */
  untilListening(least: number, most: number): Promise<string | undefined>;
  /** Ends after this time, in milliseconds. */
  rest(time: number): Promise<void>;
  /** Ends either of them at once; when there is none, the next one. */
  wake(): void;
  leave(): void;
}

/** One who is going to wait. */
interface Place {
  readonly port: number;
  /** Whether somebody is expected there, of whom it has not been told yet. */
  wanted: boolean;
  /** Where somebody has begun to listen. */
  address?: string | undefined;
  /** From when on it may be told, and when it ends in any case. */
  from: number;
  until: number;
  /** Between two looks. */
  pace: number;
  /** Whether the next time it waits it need not. */
  woken: boolean;
  end?: (() => void) | undefined;
}

const FAMILIES = ['v4', 'v6'] as const;
/**
 * While some are still missing, those who have come may wait for so long, in milliseconds, to be looked up together: a
 * look behind the last of those who listen is dear.
 */
const HOLD = 50;

/** The signal ends all waiting. */
export function openLookout(signal?: AbortSignal): Lookout {
  const counter = createSocketCounter();
  const tells = counter.count().v4 !== undefined;
  const places = new Set<Place>();
  /** How many there were at the last look, and how many have come since it was looked up who they are. */
  let seen = counter.count();
  const come = { v4: 0, v6: 0 };
  /** Whether some have gone since: then more may have come than the numbers say. */
  const gone = { v4: false, v6: false };
  /** When the number first became another one. */
  let since = Infinity;
  let timer: NodeJS.Timeout | undefined;
  let due = Infinity;

  const aim = (at: number): void => {
    if (at >= due) return;
    clearTimeout(timer);
    due = at;
    timer = setTimeout(look, Math.ceil(at - now()));
  };
  const look = (): void => {
    due = Infinity;
    const time = now();
    count();
    const missing = [...places].filter(({ wanted, address }) => wanted && address === undefined);
    if (come.v4 + come.v6 >= missing.length || time >= since + HOLD) lookUp(missing);
    for (const place of places) {
      if (place.end === undefined) continue;
      const told = place.address !== undefined || !tells;
      if (time >= place.until || (told && time >= place.from)) place.end();
      else aim(Math.min(Math.max(place.from, time + place.pace), place.until));
    }
  };
  const count = (): void => {
    const counts = counter.count();
    for (const family of FAMILIES) {
      const more = (counts[family] ?? 0) - (seen[family] ?? 0);
      if (more !== 0) since = Math.min(since, now());
      come[family] += Math.max(0, more);
      gone[family] ||= more < 0;
    }
    seen = counts;
  };
  const lookUp = (missing: readonly Place[]): void => {
    for (const family of FAMILIES) {
      const ports = missing.filter(({ address }) => address === undefined).map(({ port }) => port);
      const most = gone[family] ? ports.length : Math.min(come[family], ports.length);
      const found = most === 0 ? undefined : listeningOn(family, ports, most);
      for (const place of missing) place.address ??= found?.get(place.port);
      come[family] = 0;
      gone[family] = false;
    }
    since = Infinity;
  };
  const wait = (place: Place, least: number, most: number): Promise<void> =>
    new Promise((resolve) => {
      const began = now();
      Object.assign(place, { from: began + least, until: began + most, pace: least });
      place.end = () => {
        place.end = undefined;
        resolve();
      };
      if (place.woken) place.end();
      else aim(place.from);
      place.woken = false;
    });
  const wake = (place: Place): void => {
    place.woken = place.end === undefined;
    place.end?.();
  };
  const wakeAll = (): void => places.forEach(wake);
  signal?.addEventListener('abort', wakeAll);

  return {
    tells,
    begin() {
      count();
      lookUp([...places].filter(({ wanted }) => wanted));
    },
    enter(port, expected) {
      const place: Place = {
        port,
        wanted: expected,
        from: 0,
        until: 0,
        pace: 0,
        woken: signal?.aborted === true,
      };
      places.add(place);
      return {
        async untilListening(least, most) {
          place.wanted = true;
          await wait(place, least, most);
          const { address } = place;
          place.wanted = address === undefined;
          place.address = undefined;
          return address;
        },
        rest: (time) => wait(place, time, time),
        wake: () => wake(place),
        leave() {
          places.delete(place);
          if (places.size > 0) return;
          clearTimeout(timer);
          due = Infinity;
        },
      };
    },
    close() {
      signal?.removeEventListener('abort', wakeAll);
      counter.close();
    },
  };
}
