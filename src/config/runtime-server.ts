import { resolve } from 'node:path';
import { SwitchboardError } from '../shared/errors.ts';
import { printableLine } from '../shared/printable.ts';
import type { Secrets } from '../secrets/index.ts';
import type { ServerCandidate, Warn } from './candidate.ts';
import type { ServerDefinition, StdioDefinition } from './definition.ts';
import type { Environment } from './interpolate.ts';
import { joinedWarnings, type ConfigWarning } from './problem.ts';
import { recursionGuard } from './recursion.ts';
import { defineProgram } from './resolve.ts';
import type { Settings } from './settings.ts';

/** How to start a server, as given at run time. Every string is literal: `${X}` is not a reference. */
export interface RuntimeEntry {
  readonly command: string;
  /** Default: none. */
  readonly args?: readonly string[] | undefined;
  /** Default: none. Must never be logged. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Relative to the directory of the configuration, which is the default. */
  readonly cwd?: string | undefined;
  /** The time limit of its start, if it differs from the other servers'. */
  readonly timeouts?: { readonly childSpawnMs: number };
}

export interface RuntimeContext {
  readonly settings: Settings;
  /** What a relative `cwd` is relative to: the directory of the configuration. */
  readonly directory: string;
  /** The file that contains each entry of `suites`, for messages. Default: none is named. */
  readonly suiteFiles?: ReadonlyMap<string, string> | undefined;
  /** The environment for references in the presets of `suites`. Default: the program's own. */
  readonly env?: Environment | undefined;
  /** The secrets for these references. Default: none are set. */
  readonly secrets?: Secrets | undefined;
  /** The script that is running; an entry that starts it is refused. Default `process.argv[1]`. */
  readonly ourScript?: string | undefined;
  /** Called with each ignored setting of `suites.<name>` and the reason. Default: silently ignored. */
  readonly warn?: Warn | undefined;
}

/**
 * Creates the definition of a server that is not in any file. General settings and those of `suites.<name>` apply to it
 * as to any other. Throws a SwitchboardError SERVER_INVALID if it cannot be used.
 */
export function defineRuntimeServer(
  name: string,
  entry: RuntimeEntry,
  context: RuntimeContext,
): StdioDefinition {
  refuseBadName(name);
  refuseBadEntry(entry);
  const { command, args = [], env = {}, cwd: given = '' } = entry;
  const cwd = resolve(context.directory, given.trim() === '' ? '' : given);
  const ourScript = context.ourScript ?? process.argv[1];
  if (recursionGuard(ourScript)({ command, args, cwd })) {
    throw invalid(
      `${quoted(name)} would start this gateway itself, in an endless loop.`,
      'Name the server you want to reach through it.',
    );
  }
  const candidate: ServerCandidate = {
    name,
    file: NOWHERE,
    path: [],
    directory: context.directory,
    literal: true,
    definition: { kind: 'unusable' },
  };
  const warnings: ConfigWarning[] = [];
  const { timeouts } = entry;
  const described = { command, args: [...args], env, cwd, ...(timeouts ? { timeouts } : {}) };
  const server = defineProgram(candidate, described, {
    settings: context.settings,
    suiteFiles: context.suiteFiles ?? new Map(),
    env: context.env ?? process.env,
    secrets: context.secrets,
    warn: (warning) => void warnings.push(warning),
  });
  if (server === undefined) {
    const reasons = joinedWarnings(warnings);
    throw invalid(`The definition of ${quoted(name)} is invalid: ${reasons}.`, 'Correct the configuration.');
  }
  for (const warning of warnings) context.warn?.(warning);
  return server;
}

/** Whether a server was added at run time and is not in any file. */
export function isRuntimeServer({ origin }: Pick<ServerDefinition, 'origin'>): boolean {
  return origin.file === NOWHERE;
}

const NOWHERE = '';
const MAX_NAME_CHARS = 64;

/** Stricter than for configured servers: these are the rules for names before `__`. */
export function refuseBadName(name: string): void {
  const chars = Array.from(name).length;
  if (name.trim() === '') throw invalid('A server needs a name.', 'Choose one, for example "github".');
  if (chars > MAX_NAME_CHARS) {
    throw invalid(
      `A server name has at most ${MAX_NAME_CHARS} characters; this one has ${chars}.`,
      'Choose a shorter one.',
    );
  }
  if (/\p{Cc}/u.test(name)) {
    throw invalid(`The name ${quoted(name)} contains a control character.`, 'Use letters, digits and "-".');
  }
  if (name.includes('__')) {
    throw invalid(
      `The name ${quoted(name)} contains "__", which separates a server from its tool.`,
      'Use a single "_", or "-".',
    );
  }
  if (name.endsWith('_')) {
    throw invalid(
      `The name ${quoted(name)} ends in "_", which is ambiguous before the "__" of its tools.`,
      'Remove the last "_".',
    );
  }
}

function refuseBadEntry({ command, args = [], env = {}, cwd = '' }: RuntimeEntry): void {
  if (command.trim() === '')
    throw invalid('The command is empty.', 'Name the program to start, for example "npx".');
  if (Object.keys(env).some((variable) => variable === '' || variable.includes('='))) {
    throw invalid(
      'The name of an environment variable is empty or contains "=".',
      'Give each variable as a name and a value of its own.',
    );
  }
  // Does not say which one, because it may be a secret.
  const parts: [string, readonly string[]][] = [
    ['command', [command]],
    ['arguments', args],
    ['working directory', [cwd]],
    ['environment', Object.entries(env).flat()],
  ];
  const part = parts.find(([, texts]) => texts.some((text) => text.includes('\0')));
  if (part !== undefined) throw invalid(`NUL characters are not allowed in the ${part[0]}.`, 'Remove it.');
}

function quoted(name: string): string {
  return `"${printableLine(name)}"`;
}

function invalid(message: string, hint: string): SwitchboardError {
  return new SwitchboardError('SERVER_INVALID', message, { hint });
}
