import { mkdirSync, rmSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { backupPath, pruneBackups } from '../shared/backups.ts';
import { messageOf, SwitchboardError } from '../shared/errors.ts';
import { NotRegular, readForReplacing, replaceFile, type ReadFile } from '../shared/replace-file.ts';
import { allProblems, checkConfig, invalidConfig } from './check.ts';
import { SWITCHBOARD, type ProgramVariant } from './program-variant.ts';
import { configsIn, existingConfig, USUAL_CONFIG_NAME } from './find.ts';
import { describeWarning, keyPath, type ConfigProblem } from './problem.ts';
import { keepApproval } from './project-approval.ts';
import { isModule, parseJsonFile } from './read.ts';
import { keepSchemaCopy, schemaReference } from './schema-copy.ts';

export interface EditConfigOptions {
  /** The configuration to change. Default: the one in the directory, which is created if there is none. */
  readonly file: string | undefined;
  readonly directory: string;
  /** Edits the text, for example withServer. Called again if another program changes the file in the meantime. */
  readonly change: (text: string) => string;
  /** Whether nothing is written. Default false. */
  readonly dryRun?: boolean | undefined;
  /** The state directory, where a backup is kept. Default: no backup. */
  readonly backupsIn?: string | undefined;
  /**
   * Whether a new file is only for its owner, because of what is written to it. Its directory is then created in the
   * same way. Default false.
   */
  readonly ownerOnly?: boolean | undefined;
  /**
   * Whether a secret is written. If so, only its owner may read the file, even if others could before. Default false.
   */
  readonly secret?: boolean | undefined;
  /** Whose file it is; a new file then gets a `$schema`. Default: none. */
  readonly scope?: 'user' | 'project' | undefined;
  /** The program whose configuration it is. Default `switchboard`. */
  readonly variant?: ProgramVariant | undefined;
}

export interface EditedConfig {
  readonly file: string;
  /** Undefined if the file is new; equal to `after` if nothing needs to be written. */
  readonly before: string | undefined;
  readonly after: string;
  /** The path of the backup; undefined if there is none. */
  readonly backup: string | undefined;
  /** The schema for editors that was written next to it; undefined if none was. */
  readonly schema?: string | undefined;
}

/**
 * Changes a configuration file atomically. Throws a SwitchboardError and leaves the file as it was if it does not exist
 * (CONFIG_NOT_FOUND), is invalid before or after the change (CONFIG_UNREADABLE, CONFIG_INVALID), must not be changed by
 * a program (CONFIG_NOT_EDITABLE, CONFIG_NOT_WRITABLE) or is constantly changed by others (CONFIG_BUSY).
 */
export async function editConfig(options: EditConfigOptions): Promise<EditedConfig> {
  const { dryRun = false, variant = SWITCHBOARD } = options;
  if (!dryRun) {
    // Loaded on demand: a host waits for us to start.
    const { withFileLock } = await import('../shared/file-lock.ts');
    return withFileLock(fileOf(options, variant), () => editAlone(options));
  }
  const { file, before, after } = await planned(options);
  return { file, before, after, backup: undefined };
}

interface PlannedEdit {
  readonly file: string;
  readonly present: ReadFile | undefined;
  readonly before: string | undefined;
  readonly after: string;
}

/** Reads the file and changes its text without writing it. */
async function planned(options: EditConfigOptions): Promise<PlannedEdit> {
  const { change, scope, variant = SWITCHBOARD } = options;
  const file = fileOf(options, variant);
  const present = readPresent(file);
  const before = present && textOf(file, present.bytes);
  const problems = before === undefined ? [] : await problemsBefore(file, before, variant);
  const start = before ?? newText(dirname(file), scope);
  const after = change(start);
  // If there is nothing to write, no file is created.
  if (after === start) return { file, present, before: start, after };
  await refuseWorse(file, after, problems, variant);
  return { file, present, before, after };
}

/** Other programs, such as editors, do not wait for our lock; if one of them was faster, we start again. */
async function editAlone(options: EditConfigOptions): Promise<EditedConfig> {
  const { backupsIn, ownerOnly = false, secret = false, scope } = options;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { file, present, before, after } = await planned(options);
    if (after === before) return { file, before, after, backup: undefined };
    const kept = backupsIn === undefined || present === undefined ? undefined : backupPath(backupsIn, file);
    const how = { backup: kept, mode: ownerOnly ? 0o600 : undefined, ownerOnly: secret };
    const bytes = Buffer.from(after, 'utf8');
    if (ownerOnly) doing(file, 'written', () => mkdirSync(dirname(file), { recursive: true, mode: 0o700 }));
    // What we write on behalf of a file's owner remains allowed.
    const written = await keepApproval([file], () =>
      doing(file, 'written', () => replaceFile(file, present, bytes, how)),
    );
    if (written) {
      if (backupsIn !== undefined) pruneBackups(backupsIn);
      return { file, before, after, backup: kept, schema: schemaBeside(file, after, scope) };
    }
    if (kept !== undefined) rmSync(kept, { force: true });
    // Randomized, so that two programs do not retry in step.
    await sleep(Math.random() * PAUSE_MS);
  }
  throw new SwitchboardError('CONFIG_BUSY', `${whatOf(options)} is being changed by another program.`, {
    hint: 'Nothing was changed. Try again later.',
  });
}

/** The initial text of a new file. */
function newText(directory: string, scope: EditConfigOptions['scope']): string {
  return `${JSON.stringify({ $schema: scope && schemaReference(scope, directory) }, null, 2)}\n`;
}

function schemaBeside(file: string, text: string, scope: EditConfigOptions['scope']): string | undefined {
  return scope && keepSchemaCopy(scope, dirname(file), parseJsonFile(file, text));
}

/** How often we start again if another program changes the file in the meantime. */
const ATTEMPTS = 8;
/** The longest pause before that, in milliseconds. */
const PAUSE_MS = 30;

function whatOf({ file, directory }: EditConfigOptions): string {
  return file ?? `The configuration in ${directory}`;
}

function fileOf({ file, directory }: EditConfigOptions, variant: ProgramVariant): string {
  const chosen =
    file !== undefined ? existingConfig(resolve(directory, file), variant) : usualFile(directory, variant);
  if (isModule(chosen)) {
    throw new SwitchboardError(
      'CONFIG_NOT_EDITABLE',
      `${chosen} is a program and cannot be edited automatically.`,
      {
        hint: 'Edit the exported mcpServers by hand: "name": { "command": "…", "args": ["…"] }.',
      },
    );
  }
  return chosen;
}

/** Searched again, because our new file would hide one that was created after the start. */
function usualFile(directory: string, { configFile }: ProgramVariant): string {
  if (configFile !== undefined) return resolve(directory, configFile);
  return configsIn(directory)[0] ?? resolve(directory, USUAL_CONFIG_NAME);
}

function readPresent(file: string): ReadFile | undefined {
  return doing(file, 'read', () => readForReplacing(file));
}

/** The complete text: anything we cannot decode would be lost. */
function textOf(file: string, bytes: Buffer): string {
  const text = bytes.toString('utf8');
  parseJsonFile(file, text);
  if (Buffer.from(text, 'utf8').equals(bytes)) return text;
  throw new SwitchboardError('CONFIG_NOT_EDITABLE', `${file} is not valid UTF-8.`, {
    hint: 'Save it as UTF-8 and try again.',
  });
}

/** The existing problems of single servers. A configuration that is invalid as a whole cannot be changed. */
async function problemsBefore(
  file: string,
  text: string,
  variant: ProgramVariant,
): Promise<readonly string[]> {
  const checked = await checkConfig(parseJsonFile(file, text), variant);
  const problems = allProblems(checked);
  if (checked.fatal.length > 0) throw invalidConfig(file, problems);
  return problems.map(described);
}

async function refuseWorse(
  file: string,
  text: string,
  known: readonly string[],
  variant: ProgramVariant,
): Promise<void> {
  const problems = allProblems(await checkConfig(parseJsonFile(file, text), variant)).map(described);
  const worse = problems.filter((problem) => !known.includes(problem));
  if (worse.length === 0) return;
  const message = worse.map((problem) => `${file} would be invalid: ${problem}`).join('\n');
  throw new SwitchboardError('CONFIG_INVALID', message, { hint: 'Nothing was changed.' });
}

function described({ path, message }: ConfigProblem): string {
  return describeWarning({ key: keyPath(path), message });
}

function doing<T>(file: string, what: 'read' | 'written', act: () => T): T {
  try {
    return act();
  } catch (cause) {
    if (cause instanceof NotRegular) {
      throw new SwitchboardError('CONFIG_NOT_EDITABLE', `${file} is ${cause.message}.`, {
        hint: 'Only a regular file can be changed.',
      });
    }
    const code = what === 'read' ? 'CONFIG_UNREADABLE' : 'CONFIG_NOT_WRITABLE';
    throw new SwitchboardError(code, `${file}: cannot be ${what}: ${messageOf(cause)}`, {
      hint:
        what === 'read'
          ? undefined
          : 'Nothing was changed. Check the permissions of the file and its directory.',
      cause,
    });
  }
}
