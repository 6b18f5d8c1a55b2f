import type { Deadlines } from '../shared/deadline.ts';
import type { Kind, Listing, Source } from '../gateway/index.ts';
import { Connection } from './connection.ts';
import type { Surroundings } from './incarnation.ts';
import { listTools } from './list.ts';
import type { StdioServer } from './server.ts';

/** How long a list is used at least, in milliseconds, whatever its server says. */
const RELIST_EVERY = 250;

/** An upstream server as a source: its lists are kept until it says that they changed. */
export function createServerSource(
  server: StdioServer,
  surroundings: Surroundings,
  deadlines: Deadlines,
): Source {
  const listeners = new Set<(kind: Kind) => void>();
  let listing: Promise<Listing> | undefined;
  let known: Listing | undefined;
  let listedAt = -Infinity;
  let forgetting: NodeJS.Timeout | undefined;
  const forget = (): void => {
    clearTimeout(forgetting);
    forgetting = undefined;
    listing = known = undefined;
    for (const listener of listeners) listener('tools');
  };
  const connection = new Connection(server, surroundings, deadlines, {
    gone: forget,
    // A server that says so all the time is believed four times a second.
    changed: () => {
      const wait = listedAt + RELIST_EVERY - performance.now();
      if (wait <= 0) forget();
      else forgetting ??= setTimeout(forget, wait).unref();
    },
  });

  const relist = (): Promise<Listing> => {
    listedAt = performance.now();
    const fresh: Promise<Listing> = listTools(connection, server.name, surroundings.log);
    fresh.then(
      (listed) => {
        if (listing === fresh) known = listed;
      },
      () => {
        // A failure is not kept: the next one to ask asks the server again.
        if (listing === fresh) listing = undefined;
      },
    );
    return fresh;
  };

  return {
    name: server.name,
    get state() {
      return connection.state;
    },
    about: () => connection.about,
    list: () => (listing ??= relist()),
    known: () => known,
    request: (edits, call) => connection.relay(edits, call),
    onChange: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => connection.close(),
  };
}
