import type { App } from '../app.ts';
import type { LoadedConfig } from '../config/index.ts';
import { messageOf } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';
import { stateDirectory } from '../shared/paths.ts';

export interface PublisherOptions {
  /** The configuration as it was read last. */
  readonly config: () => LoadedConfig;
  readonly program: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Logger;
  readonly states: App['states'];
}

/** Tells other programs of this user how the servers of this gateway are doing, as `switchboard list` shows it. */
export interface Publisher {
  /** A state has changed. What changes close together is written once. */
  readonly changed: () => void;
  /** Clients can connect now, at this address. */
  readonly listening: (url: string) => void;
  /** Nothing is said any more. */
  close(): Promise<void>;
}

/** How long after a change it is written, in milliseconds. */
const DELAY = 100;
/** How long after the start it is written where nothing changes: a host waits for us to start, and asks much at first. */
const START_DELAY = 2000;

export function createPublisher({ config, program, env, log, states }: PublisherOptions): Publisher {
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let closed = false;
  let listensAt: string | undefined;
  let withdraw: (() => Promise<void>) | undefined;

  const write = async (): Promise<void> => {
    try {
      // Not before it is needed: a host waits for us to start.
      const { publish, withdraw: remove } = await import('./run-file.ts');
      const directory = stateDirectory(env);
      withdraw = () => remove(directory);
      await publish(directory, { config: config(), program, url: listensAt, servers: states() });
    } catch (error) {
      log.debug('could not write down how the servers are doing', { reason: messageOf(error) });
    }
  };
  const writeAfter = (delay: number): NodeJS.Timeout =>
    setTimeout(() => {
      timer = undefined;
      clearTimeout(first);
      writing = writing.then(write);
    }, delay).unref();
  const first = writeAfter(START_DELAY);
  const changed = (): void => {
    if (!closed) timer ??= writeAfter(DELAY);
  };
  return {
    changed,
    listening(url) {
      listensAt = url;
      changed();
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      clearTimeout(first);
      await writing;
      // What stays is ignored by readers, who see that its writer is gone.
      await withdraw?.().catch(() => undefined);
    },
  };
}
