import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, relative, resolve } from 'node:path';
import {
  concernsWrapped,
  type ConfigScope,
  type LoadedConfig,
  type ServerDefinition,
} from '../../../config/index.ts';
import { purposeOf } from '../../../language/index.ts';
import {
  WRAP_CONFIG_FILE,
  outerEntryOf,
  outerConfig,
  scriptName,
  wrapperScript,
  type WrapperLaunch,
  type WrapPlan,
  instructionsFor,
  knownAs,
} from '../../../language/wrap/index.ts';
import { SwitchboardError, messageOf } from '../../../shared/errors.ts';
import { parseJsonc } from '../../../shared/jsonc.ts';
import type { Context } from '../command.ts';
import { findCommand } from '../../../process/index.ts';
import { MODEL_VARIABLES, referencesIn } from '../host/host-entries.ts';
import { languageArguments, USUAL_TIMEOUT, type LanguageChoice } from './language-flags.ts';
import { stableNodePath, ownLaunch } from '../../common/own-launch.ts';
import { readRegularFile } from '../../../shared/regular-file.ts';
import { usage } from '../../kit/arguments.ts';
import { probeServers, type ProbedServer } from '../server/probe-servers.ts';

/** A server in its own folder, and the language model to put in front of it. */
export interface WrapChoice {
  readonly server: ServerDefinition;
  readonly choice: LanguageChoice;
  readonly config: LoadedConfig;
}

/**
 * What will be written to the folder of a server, except the instructions. `said` is the server's description of
 * itself, in one sentence, unless another one is already known.
 */
export function wrapPlan(
  { server, choice, config }: WrapChoice,
  said: string | undefined,
  context: Context,
): WrapPlan {
  const { name, origin } = server;
  const original = readRegularFile(origin.file);
  const text = original.toString('utf8');
  const definition = parseJsonc(text) as Record<string, unknown>;
  const folder = dirname(origin.file);
  const launch = launchOf(context);
  return {
    folder,
    server: name,
    original,
    config: outerConfig(definition, {
      server: name,
      purpose: purposeOf(server) ?? (said && `${name} (${JSON.stringify(said.slice(0, MAX_SAID))})`),
      command: nodeOf(context),
      args: [scriptName(name), ...languageArguments(choice), ...settingsFrom(config, origin.scope, folder)],
      env: config.settings.inheritEnv === true ? {} : neededBy(text, context),
      // The time for starting the server is added to that of the request itself.
      rpcMs: Math.min((choice.timeoutMs ?? USUAL_TIMEOUT) + START_MS, LONGEST_MS),
    }),
    script: wrapperScript(name, launch),
  };
}

const MAX_SAID = 200;
const START_MS = 30_000;
/** The longest time that a timer can wait. */
const LONGEST_MS = 2_147_483_647;

/** Throws if a server is not defined in its own folder, with what to do instead. */
export function refuseForeign(server: ServerDefinition, config: LoadedConfig, program: string): void {
  const { name, origin } = server;
  const shown = JSON.stringify(name);
  const refuse = (message: string, hint: string): never => {
    throw new SwitchboardError('WRAP_REFUSED', message, { hint });
  };
  const instead = `Add the server to the configuration instead (${program} add ${name} …), and wrap it there.`;
  if (server.kind === 'builtin')
    refuse(`${shown} is built in and has no tools to wrap.`, 'Wrap another server.');
  if (server.language !== undefined)
    refuse(`${shown} already has a model: "language" in ${origin.file}.`, 'Change or remove it there.');
  if (dirname(origin.file) === config.directory || basename(origin.file) !== WRAP_CONFIG_FILE)
    refuse(`${shown} is defined in ${origin.file}, which other programs read as well.`, instead);
  const definition = parseJsonc(readRegularFile(origin.file).toString('utf8')) as Record<string, unknown>;
  const others = Object.keys((definition.mcpServers as object | undefined) ?? {}).length;
  if (outerEntryOf(definition, name) !== undefined && others > 1)
    refuse(`${origin.file} defines ${others} servers, and a folder is wrapped as a whole.`, instead);
  const suite = config.settings.suites[name];
  const about = TOOL_SETTINGS.filter((key) => suite?.[key] !== undefined);
  if (about.length > 0)
    refuse(
      `${about.map((key) => `suites.${name}.${key}`).join(', ')} in ${config.suiteFiles.get(name) ?? 'the configuration'} is about ` +
        `tools that ${shown} would no longer expose.`,
      'Move it to an entry of the server in the configuration (mcpServers), and wrap it there: then it applies ' +
        'to the tools that the model may use.',
    );
}

const TOOL_SETTINGS = ['expose', 'exposedTools', 'hiddenTools', 'tools'] as const;

function launchOf({ variant, env }: Context): WrapperLaunch {
  const started = { script: process.argv[1] ?? '', node: process.execPath, launch: variant.launch, env };
  const { command, args } = ownLaunch(started);
  const [program] = args;
  return args.length === 1 && program !== undefined && existsSync(program)
    ? { kind: 'installed', program }
    : { kind: 'fetched', command, args };
}

/** `node` if that is what is running now, because a folder may be used on another machine. */
function nodeOf({ cwd, env }: Context): string {
  const found = findCommand('node', { cwd, env });
  const isThisOne =
    found.kind === 'found' && realpathSync.native(found.file) === realpathSync.native(process.execPath);
  return isThisOne ? 'node' : stableNodePath(process.execPath, env, process.platform);
}

/** The configuration, if it has settings that the server would not know without it. */
function settingsFrom(
  { files, settings }: LoadedConfig,
  scope: ConfigScope | undefined,
  folder: string,
): string[] {
  // Other users of a project's folder do not have this user's own file.
  const file = files.find((each) => each.scope === scope)?.path;
  return file !== undefined && concernsWrapped(settings) ? ['--config', relative(folder, file)] : [];
}

/**
 * The names of variables that the script and its server need if they do not inherit the whole environment, never their
 * values.
 */
function neededBy(definition: string, { env }: Context): Record<string, string> {
  const names = [
    ...referencesIn(definition),
    ...[...MODEL_VARIABLES, 'SWITCHBOARD_STATE_DIR'].filter((name) => env[name] !== undefined),
  ];
  return Object.fromEntries([...new Set(names)].map((name) => [name, `\${${name}:-}`]));
}

/** The instructions for a server's model, and their source. */
export interface FoundInstructions {
  readonly text: string;
  readonly from: 'file' | 'descriptions' | 'library' | 'draft';
  /** What the server reported about itself, if it was started for that. */
  readonly about?: Answered['about'];
  /** Why the draft contains nothing about the server's tools. */
  readonly problem?: SwitchboardError | undefined;
}

type Answered = Extract<ProbedServer, { kind: 'answered' }>;

/** The longest instructions, in bytes; none need to be longer. */
const MAX_BYTES = 1024 * 1024;

/** The content of a file with instructions. */
export function instructionsIn(file: string, cwd: string): string {
  const path = resolve(cwd, file);
  try {
    const text = readRegularFile(path, { maxBytes: MAX_BYTES }).toString('utf8');
    if (text.trim() === '') throw new Error('it is empty');
    return text;
  } catch (cause) {
    throw usage(`Cannot use the instructions in ${path}: ${messageOf(cause)}`, 'Name another file.');
  }
}

/** What is known about a server, otherwise what it reports about itself, for which it is started once. */
export async function findInstructions(
  server: ServerDefinition,
  config: LoadedConfig,
  context: Context,
): Promise<FoundInstructions> {
  const known = { server: server.name, program: server, claude: server.claude };
  const from = whereFrom(server);
  if (from !== 'draft') {
    return { from, text: await instructionsFor({ ...known, about: undefined, tools: [] }) };
  }
  const app = context.open({ ...config, servers: [server], compounds: [] });
  const [probed] = await probeServers(app, [server], context);
  const tools = probed?.kind === 'answered' ? probed.tools.flatMap(({ offered }) => offered ?? []) : [];
  const about = probed?.kind === 'answered' ? probed.about : undefined;
  const text = await instructionsFor({ ...known, about, tools });
  return { from, text, about, problem: probed?.kind === 'failed' ? probed.error : undefined };
}

/** Where the instructions come from. For a draft, the server has to be started. */
export function whereFrom(server: ServerDefinition): Exclude<FoundInstructions['from'], 'file'> {
  if (server.claude !== undefined) return 'descriptions';
  return knownAs(server) === undefined ? 'draft' : 'library';
}
