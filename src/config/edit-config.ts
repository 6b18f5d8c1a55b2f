import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf, SwitchboardError } from '../shared/errors.ts';
import { checkConfig, invalidConfig } from './check.ts';
import { SWITCHBOARD, type Face } from './face.ts';
import { CONFIG_NAMES, findConfig } from './find.ts';
import { describeWarning, keyPath, type Problem } from './problem.ts';
import { isModule, parseJsonFile } from './read.ts';

export interface EditConfigOptions {
  /** The configuration to change. Default: that of the directory, which is made where there is none. */
  readonly file: string | undefined;
  readonly directory: string;
  /** What to make of its text, for example withServer. It may be called again if somebody else changes the file. */
  readonly change: (text: string) => string;
  /** Whether nothing is written. Default false. */
  readonly dryRun?: boolean | undefined;
  /** Whether the old text is kept in `<file>.bak`. Default false. */
  readonly backup?: boolean | undefined;
  /** The program whose configuration it is. Default `switchboard`. */
  readonly face?: Face | undefined;
}

export interface EditedConfig {
  readonly file: string;
  /** Undefined where the file is new. */
  readonly before: string | undefined;
  readonly after: string;
  /** Where the old text was kept; undefined: nowhere. */
  readonly backup: string | undefined;
}

/**
 * Changes a configuration file, all at once or not at all. Throws a SwitchboardError, with the file as it was, where it
 * is not there (CONFIG_NOT_FOUND), not right before or after the change (CONFIG_UNREADABLE, CONFIG_INVALID), not to be
 * changed by a program (CONFIG_NOT_EDITABLE, CONFIG_NOT_WRITABLE) or changed all the time by others (CONFIG_BUSY).
 */
export async function editConfig(options: EditConfigOptions): Promise<EditedConfig> {
  const { change, dryRun = false, backup = false, face = SWITCHBOARD } = options;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const file = fileOf(options, face);
    const present = readPresent(file);
    const before = present && textOf(file, present.bytes);
    const problems = before === undefined ? [] : await problemsBefore(file, before, face);
    const after = change(before ?? '{}\n');
    if (after === before) return { file, before, after, backup: undefined };
    await refuseWorse(file, after, problems, face);
    if (dryRun) return { file, before, after, backup: undefined };
    const written = write(file, present, after, backup);
    if (written) return { file, before, after, backup: written.backup };
    // Not in step with whoever is at it, too.
    await sleep(Math.random() * PAUSE_MS);
  }
  throw new SwitchboardError('CONFIG_BUSY', `${whatOf(options)} is being changed by another program.`, {
    hint: 'Nothing was changed. Try again when it is done.',
  });
}

/** How often we start again when somebody else changes the file meanwhile. */
const ATTEMPTS = 8;
/** The longest we wait before that, in milliseconds. */
const PAUSE_MS = 30;

function whatOf({ file, directory }: EditConfigOptions): string {
  return file ?? `The configuration in ${directory}`;
}

function fileOf({ file, directory }: EditConfigOptions, face: Face): string {
  // Looked for again: a file made since the start would be hidden by a new one of ours.
  const found = findConfig(directory, file, file === undefined ? SWITCHBOARD : face).file;
  const chosen = found ?? resolve(directory, CONFIG_NAMES[0]!);
  if (isModule(chosen)) {
    throw new SwitchboardError(
      'CONFIG_NOT_EDITABLE',
      `${chosen} is a program, which only its author can change.`,
      {
        hint: 'Change mcpServers in what it exports by hand: "name": { "command": "…", "args": ["…"] }.',
      },
    );
  }
  return chosen;
}

interface Present {
  /** The file itself, where the configuration is a link to it. */
  readonly path: string;
  readonly bytes: Buffer;
  readonly stats: fs.Stats;
}

function readPresent(file: string): Present | undefined {
  if (fs.lstatSync(file, { throwIfNoEntry: false }) === undefined) return undefined;
  const stats = fs.statSync(file, { throwIfNoEntry: false });
  if (stats?.isFile() !== true) {
    const what = stats === undefined ? 'a link to nowhere' : 'not a regular file';
    throw new SwitchboardError('CONFIG_NOT_EDITABLE', `${file} is ${what}.`, {
      hint: 'Only a regular file can be changed.',
    });
  }
  return doing(file, 'read', () => {
    const path = fs.realpathSync(file);
    return { path, bytes: fs.readFileSync(path), stats };
  });
}

/** The text, which must be all there is: what we do not understand would be lost. */
function textOf(file: string, bytes: Buffer): string {
  const text = bytes.toString('utf8');
  parseJsonFile(file, text);
  if (Buffer.from(text, 'utf8').equals(bytes)) return text;
  throw new SwitchboardError('CONFIG_NOT_EDITABLE', `${file} is not UTF-8 text throughout.`, {
    hint: 'Save it as UTF-8 and try again.',
  });
}

/** What is wrong with single servers already. Wrong as a whole, it cannot be changed. */
async function problemsBefore(file: string, text: string, face: Face): Promise<readonly string[]> {
  const { fatal, byServer } = await checkConfig(parseJsonFile(file, text), face);
  const inServers = [...byServer.values()].flat();
  if (fatal.length > 0) throw invalidConfig(file, [...fatal, ...inServers]);
  return inServers.map(described);
}

async function refuseWorse(file: string, text: string, known: readonly string[], face: Face): Promise<void> {
  const { fatal, byServer } = await checkConfig(parseJsonFile(file, text), face);
  const problems = [...fatal, ...[...byServer.values()].flat()].map(described);
  const worse = problems.filter((problem) => !known.includes(problem));
  if (worse.length === 0) return;
  const message = worse.map((problem) => `${file} would not be right: ${problem}`).join('\n');
  throw new SwitchboardError('CONFIG_INVALID', message, { hint: 'Nothing was changed.' });
}

function described({ path, message }: Problem): string {
  return describeWarning({ key: keyPath(path), message });
}

/** Undefined where somebody else has changed the file since it was read. */
function write(
  file: string,
  present: Present | undefined,
  text: string,
  wantsBackup: boolean,
): { readonly backup: string | undefined } | undefined {
  const path = present?.path ?? file;
  return doing(file, 'written', () => {
    // A new file beside it could take its place even so; but who makes a file read-only means it.
    if (present !== undefined) fs.accessSync(path, fs.constants.W_OK);
    const next = writeBeside(path, Buffer.from(text, 'utf8'), present?.stats);
    try {
      if (present === undefined) return place(next, path) ? { backup: undefined } : undefined;
      const backup = wantsBackup ? `${file}.bak` : undefined;
      if (backup !== undefined) fs.renameSync(writeBeside(backup, present.bytes, present.stats), backup);
      // Read again at the very last: nothing but this line lies between another program's change and its loss.
      if (!fs.readFileSync(path).equals(present.bytes)) return undefined;
      fs.renameSync(next, path);
      return { backup };
    } finally {
      fs.rmSync(next, { force: true });
    }
  });
}

/** A file with this content in the same directory, under a name of its own, with the rights of the one it is to replace. */
function writeBeside(path: string, bytes: Buffer, like: fs.Stats | undefined): string {
  const beside = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  // One that replaces another is for nobody but us until its rights are set: it may hold secrets.
  const descriptor = fs.openSync(beside, 'wx', like === undefined ? 0o644 : 0o600);
  try {
    fs.writeFileSync(descriptor, bytes);
    if (like !== undefined) keepRights(descriptor, like);
    fs.fsyncSync(descriptor);
  } catch (error) {
    fs.rmSync(beside, { force: true });
    throw error;
  } finally {
    fs.closeSync(descriptor);
  }
  return beside;
}

function keepRights(descriptor: number, { uid, gid, mode }: fs.Stats): void {
  const ours = fs.fstatSync(descriptor);
  try {
    if (ours.uid !== uid || ours.gid !== gid) fs.fchownSync(descriptor, uid, gid);
  } catch {
    // Only root can give a file away; for anybody else it becomes their own.
  }
  fs.fchmodSync(descriptor, mode & 0o777);
}

/** Puts a new file in its place, unless somebody else has just made one there. */
function place(next: string, path: string): boolean {
  try {
    // Unlike a rename, a link never replaces anything.
    fs.linkSync(next, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    // Some file systems have no links.
    if (fs.existsSync(path)) return false;
    fs.renameSync(next, path);
    return true;
  }
}

function doing<T>(file: string, what: 'read' | 'written', act: () => T): T {
  try {
    return act();
  } catch (cause) {
    const code = what === 'read' ? 'CONFIG_UNREADABLE' : 'CONFIG_NOT_WRITABLE';
    throw new SwitchboardError(code, `${file}: cannot be ${what}: ${messageOf(cause)}`, {
      hint:
        what === 'read' ? undefined : 'Nothing was changed. Check the rights of the file and its directory.',
      cause,
    });
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
