import { statSync } from 'node:fs';
import type { App } from '../../../app.ts';
import { type LoadedConfig, approvalRecordFile, locateConfig } from '../../../config/index.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/log.ts';
import { stateDirectory } from '../../../shared/paths.ts';

export interface StateWriterOptions {
  /** The configuration as it was read last. */
  readonly config: () => LoadedConfig;
  /** When reading it began at the earliest, in milliseconds since the epoch. */
  readonly readAt: () => number;
  readonly program: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Logger;
  readonly states: App['states'];
  /** Called where a configuration file has changed since it was read, but nobody could notify the gateway. */
  readonly missedChange: () => void;
}

/** Tells other programs of this user how the servers of this gateway are doing, as `switchboard list` shows it. */
export interface StateWriter {
  /** A state has changed. What changes close together is written once. */
  readonly changed: () => void;
  /** From now on a signal reaches the gateway, and clients, where they connect, this address. */
  readonly open: (url?: string) => void;
  /** Nothing is said any more. */
  close(): Promise<void>;
}

/** How long after a change it is written, in milliseconds. At the start a host is answered meanwhile. */
const DELAY = 100;

export function createStateWriter(options: StateWriterOptions): StateWriter {
  const { config, readAt, program, env, log, states, missedChange } = options;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let isOpen = false;
  let listensAt: string | undefined;
  let withdraw: (() => Promise<void>) | undefined;

  const write = async (): Promise<void> => {
    try {
      // Not before it is needed: a host waits for us to start.
      const { writeStateFile, removeStateFile: remove } = await import('../gateway/state-file.ts');
      const directory = stateDirectory(env);
      const isFirst = withdraw === undefined;
      withdraw = () => remove(directory);
      await writeStateFile(directory, { config: config(), program, url: listensAt, servers: states() });
      if (!isFirst) return;
      if (isOpen && changedSince(readAt(), config())) missedChange();
    } catch (error) {
      log.debug('could not write the state file', { reason: messageOf(error) });
    }
  };
  const changed = (): void => {
    if (!isOpen) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      writing = writing.then(write);
    }, DELAY).unref();
  };
  return {
    changed,
    open(url) {
      isOpen = true;
      listensAt = url;
      changed();
    },
    async close() {
      isOpen = false;
      clearTimeout(timer);
      await writing;
      // What stays is ignored by readers, who see that its writer is gone.
      await withdraw?.().catch(() => undefined);
    },
  };
}

/**
 * Whether a file that our commands change was written after `since`, in milliseconds since the epoch. A gateway reads its
 * configuration before other processes can find and notify it, so changes they write in between would go unnoticed.
 */
export function changedSince(since: number, config: LoadedConfig): boolean {
  const { files, search, servers, unusable } = config;
  const places = new Set([
    ...files.map(({ path }) => path),
    ...[...servers, ...unusable].map(({ origin }) => origin.file),
    ...(search === undefined ? [] : [locateConfig('project', search).path, approvalRecordFile()]),
    ...(search?.userDirectory === undefined ? [] : [locateConfig('user', search).path]),
  ]);
  return [...places].some((path) => writtenAt(path) > since);
}

function writtenAt(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  } catch {
    return 0;
  }
}
