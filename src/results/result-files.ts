import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { mkdir, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ownIdentity, processStatus, type RecordedIdentity } from '../process/index.ts';
import { messageOf } from '../shared/errors.ts';
import { isObject } from '../shared/is-object.ts';
import type { Logger } from '../shared/log.ts';
import { statOf, withRegularFile } from '../shared/regular-file.ts';

/**
 * The result files of one run of the gateway. The directory is created with the first file and removed when the run
 * ends.
 */
export class ResultFiles {
  readonly #parent: string;
  readonly #directory: string;
  #made: Promise<unknown> | undefined;
  #count = 0;
  #ended = false;

  constructor(parent: string) {
    this.#parent = parent;
    this.#directory = join(parent, randomBytes(8).toString('hex'));
  }

  /**
   * Writes the chunks to a new file that only this user can read. Returns its path; rejects, leaving no file, if that
   * fails.
   */
  async write(chunks: AsyncIterable<Buffer>): Promise<string> {
    await (this.#made ??= this.#make().catch((error: unknown) => {
      this.#made = undefined;
      throw error;
    }));
    // The file name does not reveal the id that clients use.
    const file = join(this.#directory, String(++this.#count));
    try {
      const handle = await open(file, 'wx', 0o600);
      try {
        for await (const chunk of chunks) await writeAll(handle, chunk);
      } finally {
        await handle.close();
      }
      if (this.#ended) throw new Error('The gateway is stopping');
      return file;
    } catch (error) {
      await this.remove(file);
      throw error;
    }
  }

  /** Removes a file. Never rejects: the directory is removed at the end anyway. */
  async remove(file: string): Promise<void> {
    await rm(file, { force: true }).catch(() => undefined);
  }

  /** Removes all files, synchronously: the program may be about to exit. */
  end(): void {
    this.#ended = true;
    try {
      if (this.#count > 0 || this.#made) fs.rmSync(this.#directory, { recursive: true, force: true });
    } catch {
      // The next gateway will remove them.
    }
  }

  async #make(): Promise<void> {
    await mkdir(this.#parent, { recursive: true, mode: 0o700 });
    await mkdir(this.#directory, { mode: 0o700 });
    fs.writeFileSync(join(this.#directory, OWNER), JSON.stringify(ownIdentity()), {
      flag: 'wx',
      mode: 0o600,
    });
  }
}

async function writeAll(handle: fs.promises.FileHandle, chunk: Buffer): Promise<void> {
  for (let at = 0; at < chunk.length;) at += (await handle.write(chunk, at)).bytesWritten;
}

const OWNER = 'owner.json';
/**
 * A directory whose owner is unknown may be in creation, or belong to another machine. When it is this old, in
 * milliseconds, it is neither.
 */
const OLD_MS = 24 * 60 * 60 * 1000;

/** Removes what killed gateways have left behind. Never throws. */
export function sweepResultFiles(parent: string, log: Logger): void {
  try {
    for (const name of fs.readdirSync(parent)) {
      if (!/^[0-9a-f]{16}$/.test(name)) continue;
      const directory = join(parent, name);
      if (isLeft(directory)) fs.rmSync(directory, { recursive: true, force: true });
    }
  } catch (error) {
    if (fs.existsSync(parent)) log.debug('could not remove old results', { reason: messageOf(error) });
  }
}

function isLeft(directory: string): boolean {
  const status = statusOf(join(directory, OWNER));
  if (status !== 'unknown') return status === 'gone';
  return Date.now() - (statOf(directory)?.mtimeMs ?? 0) > OLD_MS;
}

function statusOf(file: string): ReturnType<typeof processStatus> {
  try {
    const value: unknown = JSON.parse(withRegularFile(file, ({ read }) => read().toString('utf8')));
    const known =
      isObject(value) &&
      typeof value.place === 'string' &&
      [value.pid, value.startTime].every(Number.isSafeInteger);
    return known ? processStatus(value as unknown as RecordedIdentity) : 'unknown';
  } catch {
    return 'unknown';
  }
}
