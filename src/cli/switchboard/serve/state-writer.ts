import { statSync } from 'node:fs';
import type { App, WatchLink } from '../../../app/index.ts';
import { type LoadedConfig, approvalRecordFile, locateConfig } from '../../../config/index.ts';
import { secretsFile } from '../../../secrets/index.ts';
import { messageOf } from '../../../shared/errors.ts';
import type { Logger } from '../../../shared/log.ts';
import { stateDirectory } from '../../../shared/paths.ts';
import type { ControlChannel } from '../gateway/control-channel.ts';

export interface StateWriterOptions {
  /** The current configuration. */
  readonly config: () => LoadedConfig;
  /** A time before the current configuration was read, in milliseconds since the epoch. */
  readonly readAt: () => number;
  readonly program: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Logger;
  readonly states: App['states'];
  /**
   * Reloads the configuration: another program asked for it, or a file has changed since it was read and nobody could
   * notify us.
   */
  readonly reload: () => void;
  /** Reports to a console what happens. */
  readonly watch: (link: WatchLink) => Promise<void>;
}

/** Publishes the state of this gateway's servers to other programs of this user, such as `switchboard list`. */
export interface StateWriter {
  /** Call this when a state has changed. Changes within a short time are written together. */
  readonly changed: () => void;
  /** From now on, other programs can reach the gateway, and clients too if there is a `url`. */
  readonly open: (url?: string, consoleLink?: () => string) => void;
  /** Withdraws the published state. */
  close(): Promise<void>;
}

/** How long after a change it is written, in milliseconds. At the start, a host is answered meanwhile. */
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
      // Loaded only now, because a host waits for us to start.
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
      // Readers ignore a file that is left behind, because its writer has ended.
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
