import type { Deadlines } from '../shared/deadline.ts';
import type { Kind, Listing, Source } from '../gateway/index.ts';
import { Connection } from './connection.ts';
import type { Surroundings } from './incarnation.ts';
import { listTools } from './list.ts';
import type { StdioServer } from './server.ts';

/** An upstream server as a source: its lists are kept until it says that they changed. */
export function createServerSource(
  server: StdioServer,
  surroundings: Surroundings,
  deadlines: Deadlines,
): Source {
  const listeners = new Set<(kind: Kind) => void>();
  let listing: Promise<Listing> | undefined;
  let known: Listing | undefined;
  const connection = new Connection(server, surroundings, deadlines, {
    changed: () => {
      listing = known = undefined;
      for (const listener of listeners) listener('tools');
    },
  });

  const relist = (): Promise<Listing> => {
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
