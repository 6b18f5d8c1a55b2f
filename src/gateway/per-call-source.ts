import type { Edit } from '../wire/index.ts';
import type { Call } from './call.ts';
import type { Source, SourceListener } from './source.ts';

export interface PerCallSourceOptions {
  /** Creates another source of the same server. */
  readonly make: () => Source;
  /** A source could not be stopped. */
  readonly failedToStop: (error: unknown) => void;
}

/**
 * A server that gets a new process for every tool call. The process is started for the call and stopped after it, so
 * that no call sees what another has left behind. Everything else, such as lists and resources, is served by one more
 * process, started when needed.
 */
export function perCallSource({ make, failedToStop }: PerCallSourceOptions): Source {
  const main = make();
  const running = new Set<Source>();
  let listener: SourceListener | undefined;
  let level: string | undefined;
  let closed = false;

  const run = (edits: Edit[], call: Call): void => {
    const source = make();
    running.add(source);
    source.listen({
      started: () => {
        if (level !== undefined) source.ask('logging/setLevel', { level }).catch(() => undefined);
      },
      // What the server offers is known from the other process; if this one ends, only this call is affected.
      failed: () => undefined,
      stopped: () => undefined,
      changed: () => undefined,
      notified: (notification, callers) => listener?.notified(notification, callers),
      requested: (serverRequest) => listener?.requested(serverRequest),
      inUse: () => true,
    });
    const { onEnd } = call;
    call.onEnd = (...ended) => {
      onEnd?.(...ended);
      // Deferred: the call may still have to tell the server that it was cancelled.
      setImmediate(() => {
        source
          .close()
          .catch(failedToStop)
          .finally(() => running.delete(source));
      });
    };
    source.request(edits, call);
  };

  return {
    name: main.name,
    get state() {
      return main.state;
    },
    get problem() {
      return main.problem;
    },
    get listsToolsUnstarted() {
      return main.listsToolsUnstarted ?? false;
    },
    about: () => main.about(),
    list: (kind) => main.list(kind),
    relist: () => main.relist?.() ?? Promise.resolve(),
    known: (kind) => main.known(kind),
    remembered: (kind) => main.remembered(kind),
    request: (edits, call) => {
      if (call.method === 'tools/call' && !closed) run(edits, call);
      else main.request(edits, call);
    },
    start: () => main.start(),
    ask: (method, params) => {
      if (method === 'logging/setLevel' && typeof params?.level === 'string') level = params.level;
      return main.ask(method, params);
    },
    notify: (notification) => {
      for (const source of [main, ...running]) source.notify(notification);
    },
    listen: (given) => {
      listener = given;
      main.listen(given);
    },
    setIdleTimeout: (idleMs) => main.setIdleTimeout(idleMs),
    stop: async () => main.stop?.(),
    fail: (error) => main.fail(error),
    close: async (options) => {
      closed = true;
      await Promise.all([main, ...running].map((source) => source.close(options)));
    },
  };
}
