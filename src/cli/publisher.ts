import type { App } from '../app.ts';
import type { LoadedConfig } from '../config/index.ts';
import { messageOf } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';
import { stateDirectory } from '../shared/paths.ts';

export interface PublisherOptions {
  readonly config: LoadedConfig;
  readonly program: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Logger;
  readonly states: App['states'];
}

/** Tells other programs of this user how the servers of this gateway are doing, as `switchboard list` shows it. */
export interface Publisher {
  /** A state has changed. What changes close together is written once. */
  readonly changed: () => void;
  /** Nothing is said any more. */
  close(): Promise<void>;
}

/** How long after a change it is written, in milliseconds. */
const DELAY = 100;

export function createPublisher({ config, program, env, log, states }: PublisherOptions): Publisher {
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let closed = false;
  let withdraw: (() => Promise<void>) | undefined;

  const write = async (): Promise<void> => {
    try {
      // Not before it is needed: a host waits for us to start.
      const { publish, withdraw: remove } = await import('./run-file.ts');
      const directory = stateDirectory(env);
      withdraw = () => remove(directory);
      await publish(directory, { config, program, servers: states() });
    } catch (error) {
      log.debug('could not write down how the servers are doing', { reason: messageOf(error) });
    }
  };
  return {
    changed() {
      if (closed) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        writing = writing.then(write);
      }, DELAY).unref();
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await writing;
      // What stays is ignored by readers, who see that its writer is gone.
      await withdraw?.().catch(() => undefined);
    },
  };
}
