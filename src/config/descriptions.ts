import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { messageOf } from '../shared/errors.ts';
import { isObject } from '../shared/is-object.ts';
import { nodeErrorCode } from '../shared/node-error-code.ts';
import type { Warn } from './candidate.ts';
import type { Layer } from './layers.ts';
import { keyPath, withConsequence } from './problem.ts';
import { readJsonFile } from './read.ts';

/** What mcp-descriptions.json says about one server. */
interface ServerDescriptions {
  /** The complete description of its suite, for the client's model. */
  readonly switchboard?: string | undefined;
  /** Instructions for the language model in front of the server. */
  readonly claude?: string | undefined;
}

/** Descriptions by server name. Any name is possible, even "constructor". */
export type Descriptions = ReadonlyMap<string, ServerDescriptions>;

/**
 * Reads the mcp-descriptions.json of each directory and of its `.switchboard`; for each server, the first file that
 * describes it counts. Such a file only adds text, so any problem in it is just a warning.
 */
export function readDescriptions(
  layers: readonly Pick<Layer, 'directory' | 'approval'>[],
  warn: Warn,
): Descriptions {
  const all = new Map<string, ServerDescriptions>();
  for (const [layer, folder] of layers.flatMap((each) => FOLDERS.map((at) => [each, at] as const))) {
    const file = join(resolve(layer.directory), ...folder, DESCRIPTIONS_FILE);
    // Its texts reach a model, and may describe any server.
    if (layer.approval?.allows(file) === false) continue;
    for (const [name, described] of entriesOf(file, warn)) if (!all.has(name)) all.set(name, described);
  }
  return all;
}

export const DESCRIPTIONS_FILE = 'mcp-descriptions.json';
const FOLDERS: readonly (readonly string[])[] = [[], ['.switchboard']];
/** Instructions never need to be longer, in UTF-16 units; a file with them may be as long. */
const MAX_TEXT = 1024 * 1024;

function entriesOf(file: string, warn: Warn): [string, ServerDescriptions][] {
  let value: unknown;
  try {
    // There is usually none, and checking is cheaper than an error.
    if (statSync(file, { throwIfNoEntry: false }) === undefined) return [];
    value = readJsonFile(file);
  } catch (error) {
    // The folder's name belongs to a file.
    if (nodeErrorCode(error) === 'ENOTDIR') return [];
    // The message already names the file, with line and column if known.
    warn({ message: withConsequence(messageOf(error), 'the file is skipped'), level: 'warn' });
    return [];
  }
  const mcps = isObject(value) ? value.mcps : undefined;
  if (!isObject(mcps)) {
    const message = 'must be an object of servers by name, each with "switchboard" and "claude"';
    warn({ file, key: 'mcps', message: withConsequence(message, 'the file is skipped'), level: 'warn' });
    return [];
  }
  return Object.entries(mcps).flatMap(([name, entry]): [string, ServerDescriptions][] => {
    if (isObject(entry)) return [[name, describedBy(entry, { file, path: ['mcps', name] }, warn)]];
    const message = 'must be an object with "switchboard", "claude" or both; it is ignored';
    warn({ file, key: keyPath(['mcps', name]), message, level: 'warn' });
    return [];
  });
}

interface EntryLocation {
  readonly file: string;
  readonly path: readonly string[];
}

function describedBy(
  entry: Record<string, unknown>,
  { file, path }: EntryLocation,
  warn: Warn,
): ServerDescriptions {
  const textOf = (key: keyof ServerDescriptions): string | undefined => {
    const text = Object.hasOwn(entry, key) ? entry[key] : undefined;
    const isText = typeof text === 'string';
    if (isText && text.length <= MAX_TEXT) return text.trim() === '' ? undefined : text;
    if (text !== undefined) {
      const message = isText ? `is longer than ${MAX_TEXT} characters` : 'must be a string';
      warn({ file, key: keyPath([...path, key]), message: `${message}; it is ignored`, level: 'warn' });
    }
    return undefined;
  };
  return { switchboard: textOf('switchboard'), claude: textOf('claude') };
}
