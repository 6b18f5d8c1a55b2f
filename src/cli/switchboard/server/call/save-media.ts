import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { messageOf, SwitchboardError } from '../../../../shared/errors.ts';
import { isObject } from '../../../../shared/is-object.ts';
import { nodeErrorCode } from '../../../../shared/node-error-code.ts';

export interface SaveOptions {
  /** The directory for the files, absolute; it exists. Default: a new temporary directory. */
  readonly directory: string | undefined;
  /** The name of the tool, which the files are named after. */
  readonly tool: string;
}

/**
 * Writes the images, sounds and other binary parts of a tool's result to separate files. Never overwrites a file.
 * Returns the path of each part that was written.
 */
export function saveMedia(
  result: Readonly<Record<string, unknown>>,
  { directory, tool }: SaveOptions,
): ReadonlyMap<unknown, string> {
  const saved = new Map<unknown, string>();
  const content = Array.isArray(result.content) ? (result.content as unknown[]) : [];
  let chosen = directory;
  for (const part of content) {
    const media = mediaOf(part);
    if (media === undefined) continue;
    chosen ??= mkdtempSync(join(tmpdir(), 'switchboard-'));
    saved.set(part, writeNew(chosen, fileName(tool), media));
  }
  return saved;
}

/** The output directory, which is created if missing. */
export function outputDirectory(given: string, cwd: string): string {
  const directory = resolve(cwd, given);
  return writing(directory, () => {
    mkdirSync(directory, { recursive: true });
    return directory;
  });
}

interface Media {
  readonly bytes: Buffer;
  readonly extension: string;
}

function mediaOf(part: unknown): Media | undefined {
  if (!isObject(part)) return undefined;
  if (part.type === 'image' || part.type === 'audio') return decoded(part.data, part.mimeType);
  if (part.type === 'resource' && isObject(part.resource))
    return decoded(part.resource.blob, part.resource.mimeType);
  return undefined;
}

function decoded(data: unknown, mimeType: unknown): Media | undefined {
  if (typeof data !== 'string' || data === '' || !/^[\w+/-]+={0,2}\s*$/.test(data)) return undefined;
  return { bytes: Buffer.from(data, 'base64'), extension: extensionOf(mimeType) };
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  jpeg: 'jpg',
  'svg+xml': 'svg',
  mpeg: 'mp3',
  'x-wav': 'wav',
  wave: 'wav',
  plain: 'txt',
  'octet-stream': 'bin',
};

/** `image/png; a=b` becomes `png`. */
function extensionOf(mimeType: unknown): string {
  const kind =
    typeof mimeType === 'string' ? /^\w+\/([\w.+-]+)/.exec(mimeType)?.[1]?.toLowerCase() : undefined;
  const extension = EXTENSIONS[kind ?? ''] ?? kind ?? 'bin';
  return /^[a-z\d]{1,8}$/.test(extension) ? extension : 'bin';
}

/** A tool may be called `../../x`. */
function fileName(tool: string): string {
  return (
    tool
      .replace(/[^\p{L}\p{N}_-]+/gu, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 60) || 'result'
  );
}

function writeNew(directory: string, name: string, { bytes, extension }: Media): string {
  for (let number = 1; ; number++) {
    const file = join(directory, `${name}${number === 1 ? '' : `-${number}`}.${extension}`);
    const isNew = writing(file, () => {
      try {
        writeFileSync(file, bytes, { flag: 'wx', mode: 0o600 });
        return true;
      } catch (error) {
        if (nodeErrorCode(error) === 'EEXIST') return false;
        throw error;
      }
    });
    if (isNew) return file;
  }
}

function writing<T>(file: string, write: () => T): T {
  try {
    return write();
  } catch (cause) {
    throw new SwitchboardError('OUTPUT_FAILED', `Cannot write ${file}: ${messageOf(cause)}`, {
      hint: 'Name a directory you can write to with --output DIR.',
      cause,
    });
  }
}
