import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { messageOf } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';
import type { SourceInfo } from '../gateway/index.ts';
import { isJsonObject } from '../protocol/index.ts';
import type { Framing } from '../wire/index.ts';

/** What a server said of itself, and how it was spoken to. */
export interface Remembered extends SourceInfo {
  /** The framing it turned out to use, where that is not the usual one. */
  readonly framing?: Framing | undefined;
}

/** What servers said of themselves when they last ran. */
export interface Memory {
  /** The key is asked for only where something is known at all. */
  recall(key: () => string): Remembered | undefined;
  remember(key: string, info: Remembered): void;
  /** Writes what is new, now. */
  save(): void;
}

/** More than anybody configures; the oldest are forgotten. */
const MAX_SERVERS = 500;
const MAX_FILE_BYTES = 8 * 1024 * 1024;
const MAX_INSTRUCTIONS = 10_000;
/** Several servers start together; what they say is written once, in milliseconds. */
const SAVE_AFTER = 500;

/**
 * A client must not wait for servers to start before it is greeted, and servers that nobody needs are not started at
 * all; but both times we have to say what they offer. So what each said last time is kept in a file.
 */
export function createMemory(file: string, log: Logger): Memory {
  let known: Map<string, Remembered> | undefined;
  let saving: NodeJS.Timeout | undefined;
  const all = (): Map<string, Remembered> => (known ??= read(file, log));
  const save = (): void => {
    if (saving === undefined) return;
    clearTimeout(saving);
    saving = undefined;
    try {
      // Another gateway may have written meanwhile; what it learned is kept.
      write(file, new Map([...read(file, log), ...all()]));
    } catch (error) {
      log.debug('could not remember what the servers offer', { file, reason: messageOf(error) });
    }
  };
  return {
    recall: (key) => (all().size === 0 ? undefined : all().get(key())),
    remember(key, info) {
      const kept = bounded(info);
      if (JSON.stringify(all().get(key)) === JSON.stringify(kept)) return;
      all().delete(key);
      all().set(key, kept);
      saving ??= setTimeout(save, SAVE_AFTER).unref();
    },
    save,
  };
}

/** What is worth keeping of what a server said, in no more room than all servers can have. */
function bounded({
  protocolVersion,
  serverInfo,
  capabilities,
  instructions,
  framing,
}: Remembered): Remembered {
  const { name, version } = serverInfo;
  const small = (value: unknown): value is string => typeof value === 'string' && value.length <= 200;
  return {
    protocolVersion,
    serverInfo: { ...(small(name) ? { name } : {}), ...(small(version) ? { version } : {}) },
    // Only whether it has them counts; what stands inside may be anything.
    capabilities: Object.fromEntries(
      Object.keys(capabilities)
        .filter((key) => key.length <= 100)
        .slice(0, 50)
        .map((key) => [key, {}]),
    ),
    instructions: instructions?.slice(0, MAX_INSTRUCTIONS),
    ...(framing === 'content-length' ? { framing } : {}),
  };
}

/** Tells definitions apart without keeping what they say: arguments may hold what is nobody's business. */
export function memoryKey(...parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32);
}

function read(file: string, log: Logger): Map<string, Remembered> {
  let descriptor: number | undefined;
  try {
    // Without waiting: a pipe in its place would never be opened.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK | NOFOLLOW);
    const stat = fstatSync(descriptor);
    if (!stat.isFile() || stat.size > MAX_FILE_BYTES) return new Map();
    const value: unknown = JSON.parse(readFileSync(descriptor, 'utf8'));
    if (!isJsonObject(value) || value.version !== 1 || !isJsonObject(value.servers)) return new Map();
    return new Map(Object.entries(value.servers).flatMap(([key, said]) => asEntry(key, said)));
  } catch (error) {
    // Nothing remembered is no harm; a file that cannot be read is written anew.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      log.debug('could not read what the servers offer', { file, reason: messageOf(error) });
    return new Map();
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** Does not exist on Windows, where a link needs rights that a stranger lacks. */
const NOFOLLOW = (constants.O_NOFOLLOW as number | undefined) ?? 0;

function asEntry(key: string, said: unknown): [string, Remembered][] {
  if (!isJsonObject(said) || typeof said.protocolVersion !== 'string') return [];
  const { protocolVersion, serverInfo, capabilities, instructions, framing } = said;
  return [
    [
      key,
      {
        protocolVersion,
        serverInfo: isJsonObject(serverInfo) ? serverInfo : {},
        capabilities: isJsonObject(capabilities) ? capabilities : {},
        instructions: typeof instructions === 'string' ? instructions : undefined,
        ...(framing === 'content-length' ? { framing } : {}),
      },
    ],
  ];
}

function write(file: string, servers: ReadonlyMap<string, Remembered>): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const latest = [...servers].slice(-MAX_SERVERS);
  const temporary = `${file}.${process.pid}`;
  try {
    writeFileSync(temporary, JSON.stringify({ version: 1, servers: Object.fromEntries(latest) }), {
      mode: 0o600,
      flag: 'wx',
    });
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
