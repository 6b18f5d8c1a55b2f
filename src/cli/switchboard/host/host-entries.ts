import { isAbsolute, relative } from 'node:path';
import { recursionGuard, type LoadedConfig } from '../../../config/index.ts';
import {
  addressEntry,
  plainEntry,
  programEntry,
  type Entry,
  type Host,
  type Scope,
} from '../../../hosts/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { readRegularFile } from '../../../shared/regular-file.ts';
import type { Context } from '../command.ts';
import { TOKEN_VARIABLE } from '../serve/http-token.ts';
import { ownLaunch, sharedLaunch } from '../../common/own-launch.ts';

export interface OurProgram {
  /** The only configuration to read. Undefined: the user file, and that of the project in which the host starts us. */
  readonly file: string | undefined;
  /** Variables that the host has to pass on. */
  readonly variables: readonly string[];
  /** For the user alone, or for everybody who works on the project. Default `user`. */
  readonly scope?: Scope;
}

/** The entry with which a host starts this program. Throws USAGE if it would not work for other users of a project. */
export function ourProgram(
  host: Host,
  { file, variables, scope = 'user' }: OurProgram,
  { variant, env, cwd }: Context,
): Entry {
  const started = { script: process.argv[1] ?? '', node: process.execPath, launch: variant.launch, env };
  const { command, args } = scope === 'project' ? sharedLaunch(variant.launch) : ownLaunch(started);
  const named = file !== undefined && scope === 'project' ? withinProject(file, cwd) : file;
  return programEntry(host, {
    command,
    args: [...args, ...(named === undefined ? [] : ['--config', named])],
    variables,
  });
}

/** A path to a file that works for everybody who has the project. */
function withinProject(file: string, project: string): string {
  const path = relative(project, file);
  if (!path.startsWith('..') && !isAbsolute(path)) return path.replaceAll('\\', '/');
  throw new SwitchboardError('USAGE', `${file} is outside this project, so others would not have it.`, {
    hint: 'Omit --config, name a file inside the project, or omit --scope.',
  });
}

/** The entry with which a host connects to this program, which is already running. */
export function ourAddress(host: Host, url: string): Entry {
  const entry = addressEntry(host, { url, tokenVariable: TOKEN_VARIABLE });
  if (entry !== undefined) return entry;
  throw new SwitchboardError(
    'USAGE',
    `${host.title} does not support remote servers with a token from the environment.`,
    {
      hint: 'Omit --http, so that it starts the program itself, or add the address as a connector in its settings.',
    },
  );
}

/** What the user has to do if a host does not pass on the variables that a configuration refers to. */
export function variableNotes(
  { title, envInheritance: passes }: Host,
  variables: readonly string[],
): string[] {
  if (passes !== 'little' || variables.length === 0) return [];
  return [
    `${title} passes on few environment variables, and the configuration uses ${variables.join(', ')}: ` +
      'set them in "env" of the entry.',
  ];
}

/** Whether a host's entry starts this program, or connects to it with its token. */
export function isOurs(entry: unknown): boolean {
  if (typeof entry !== 'object' || entry === null) return false;
  const plain = plainEntry(entry) as Record<string, unknown>;
  const { command, args, headers, bearer_token_env_var: bearer } = plain;
  if (typeof command === 'string') {
    const words = Array.isArray(args) ? args.filter((each) => typeof each === 'string') : [];
    return recursionGuard(process.argv[1])({ command, args: words, cwd: '/' });
  }
  return bearer === TOKEN_VARIABLE || JSON.stringify(headers ?? null).includes(TOKEN_VARIABLE);
}

/**
 * The variables that a configuration refers to, in any of its files and in discovered ones; a host may have to be
 * configured to pass them on. For a project, only those that everybody who works on it needs.
 */
export function variablesIn(
  { files, servers, unusable }: Pick<LoadedConfig, 'files' | 'servers' | 'unusable'>,
  env: NodeJS.ProcessEnv,
  scope: Scope = 'user',
): string[] {
  const isShared = (each: { readonly scope?: string | undefined }): boolean => each.scope !== 'user';
  const origins = [...servers, ...unusable].map(({ origin }) => ({ path: origin.file, scope: origin.scope }));
  const read = [...files, ...origins].filter((each) => scope === 'user' || isShared(each));
  const own = scope === 'user' ? OUR_VARIABLES.filter((name) => env[name]) : [];
  const hasModel = servers.some(({ language }) => language !== undefined);
  const model = hasModel ? MODEL_VARIABLES.filter((name) => env[name]) : [];
  const written = [...new Set(read.map(({ path }) => path))].flatMap((path) => referencesIn(textOf(path)));
  return [...new Set([...written, ...own, ...model])].sort();
}

/** Empty for JavaScript: a module builds its texts itself. */
function textOf(file: string): string {
  try {
    return /\.jsonc?$/.test(file) ? readRegularFile(file).toString('utf8') : '';
  } catch {
    return '';
  }
}

/** The variables that determine where our own files are. */
const OUR_VARIABLES = ['SWITCHBOARD_STATE_DIR', 'XDG_CONFIG_HOME', 'XDG_STATE_HOME'];

/** The variables that select the model in front of a server if the configuration does not. */
export const MODEL_VARIABLES = [
  ...['ANTHROPIC_API_KEY', 'CLAUDE_API_KEY', 'ANTHROPIC_BASE_URL', 'OPENAI_API_KEY', 'OPENAI_BASE_URL'],
  ...['SWITCHBOARD_LANGUAGE_MODEL', 'SWITCHBOARD_LANGUAGE_BASE_URL'],
];

/** The variables that a text refers to. */
export function referencesIn(text: string): string[] {
  const names = [...text.matchAll(/(?<!\$)\$\{(?:env:)?([A-Za-z_]\w*)(?=\}|:-)/g)].flatMap(
    ([, name]) => name ?? [],
  );
  return passedVariables(names);
}

/** Names of variables, sorted and without duplicates, without those that every program gets. */
export function passedVariables(names: readonly string[]): string[] {
  return [...new Set(names)].filter((name) => !EVERYWHERE.has(name)).sort();
}

const EVERYWHERE = new Set([
  'HOME',
  'PATH',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'TERM',
  'TMPDIR',
  'USERPROFILE',
]);
