import { statSync } from 'node:fs';
import type { App, WatchLink } from '../../../app/index.ts';
import { type LoadedConfig, approvalRecordFile, locateConfig } from '../../../config/index.ts';
import { secretsFile } from '../../../secrets/index.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/log.ts';
import { stateDirectory } from '../../../shared/paths.ts';
import type { ControlChannel } from '../gateway/control-channel.ts';

export interface StateWriterOptions {
  /** The configuration as it was read last. */
  readonly config: () => LoadedConfig;
  /** When reading it began at the earliest, in milliseconds since the epoch. */
  readonly readAt: () => number;
  readonly program: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Logger;
  readonly states: App['states'];
  /**
   * Reads the configuration again: another program asked for it, or a file has changed since it was read and nobody
   * could say so.
   */
  readonly reload: () => void;
  /** Tells a console what happens. */
  readonly watch: (link: WatchLink) => Promise<void>;
}

/** Tells other programs of this user how the servers of this gateway are doing, as `switchboard list` shows it. */
export interface StateWriter {
  /** A state has changed. What changes close together is written once. */
  readonly changed: () => void;
  /** From now on other programs reach the gateway, and clients, where they connect, this address. */
  readonly open: (url?: string, consoleLink?: () => string) => void;
  /** Nothing is said any more. */
  close(): Promise<void>;
}

/** How long after a change it is written, in milliseconds. At the start a host is answered meanwhile. */
const DELAY = 100;

export function createStateWriter(options: StateWriterOptions): StateWriter {
  const { config, readAt, program, env, log, states, reload, watch } = options;
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();
  let opened:
    { readonly url: string | undefined; readonly consoleLink?: (() => string) | undefined } | undefined;
  let withdraw: (() => Promise<void>) | undefined;
  let control: ControlChannel | undefined;

  const write = async (): Promise<void> => {
    try {
      // Not before it is needed: a host waits for us to start.
      const {
        makeRunDirectory,
        writeStateFile,
        removeStateFile: remove,
      } = await import('../gateway/state-file.ts');
      const directory = stateDirectory(env);
      const isFirst = withdraw === undefined;
      withdraw = () => remove(directory);
      if (isFirst) control = await openControl(await makeRunDirectory(directory));
      await writeStateFile(directory, {
        ...{ config: config(), program, url: opened?.url, control: control?.address, servers: states() },
      });
      if (!isFirst) return;
      if (opened !== undefined && changedSince(readAt(), config(), env)) reload();
    } catch (error) {
      log.debug('could not write the state file', { reason: messageOf(error) });
    }
  };
  const openControl = async (directory: string): Promise<ControlChannel | undefined> => {
    try {
      const { openControlChannel } = await import('../gateway/control-channel.ts');
      return await openControlChannel(
        directory,
        { reload, 'console-link': () => opened?.consoleLink?.() },
        { watch },
      );
    } catch (error) {
      log.debug('takes no requests of other programs', { reason: messageOf(error) });
      return undefined;
    }
  };
  const changed = (): void => {
    if (opened === undefined) return;
    timer ??= setTimeout(() => {
      timer = undefined;
      writing = writing.then(write);
    }, DELAY).unref();
  };
  return {
    changed,
    open(url, consoleLink) {
      opened = { url, consoleLink };
      changed();
    },
    async close() {
      opened = undefined;
      clearTimeout(timer);
      await writing;
      // What stays is ignored by readers, who see that its writer is gone.
      await withdraw?.().catch(() => undefined);
      control?.close();
    },
  };
}

/**
 * Whether a file that our commands change was written after `since`, in milliseconds since the epoch. A gateway reads its
 * configuration before other processes can find and notify it, so changes they write in between would go unnoticed.
 */
export function changedSince(since: number, config: LoadedConfig, env: NodeJS.ProcessEnv): boolean {
  const { files, search, servers, unusable } = config;
  const places = new Set([
    ...files.map(({ path }) => path),
    ...[...servers, ...unusable].map(({ origin }) => origin.file),
    ...(search === undefined ? [] : [locateConfig('project', search).path, approvalRecordFile()]),
    ...(search?.userDirectory === undefined ? [] : [locateConfig('user', search).path]),
    secretsFile(env),
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
