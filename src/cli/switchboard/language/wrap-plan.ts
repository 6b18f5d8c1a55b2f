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

/** A server in a folder of its own, and the model that is put in front of it. */
export interface WrapChoice {
  readonly server: ServerDefinition;
  readonly choice: LanguageChoice;
  readonly config: LoadedConfig;
}

/**
 * What is to be written into the folder of a server, but for the instructions. `said` is what the server says it does, in
 * a sentence, where it is not one that is known anyway.
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
      // Starting the server comes on top of what the request itself may take.
      rpcMs: Math.min((choice.timeoutMs ?? USUAL_TIMEOUT) + START_MS, LONGEST_MS),
    }),
    script: wrapperScript(name, launch),
  };
}

const MAX_SAID = 200;
const START_MS = 30_000;
/** The longest time a timer can wait. */
const LONGEST_MS = 2_147_483_647;

/** Throws where a server is not defined in a folder of its own, with what to do instead. */
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

/** `node` where that is what runs now: a folder may be used on another machine. */
function nodeOf({ cwd, env }: Context): string {
  const found = findCommand('node', { cwd, env });
  const isThisOne =
    found.kind === 'found' && realpathSync.native(found.file) === realpathSync.native(process.execPath);
  return isThisOne ? 'node' : stableNodePath(process.execPath, env, process.platform);
}

/** The configuration, where it says something that the server would not know without it. */
function settingsFrom(
  { files, settings }: LoadedConfig,
  scope: ConfigScope | undefined,
  folder: string,
): string[] {
  // The folder of a project may be used by others, who do not have this user's own file.
  const file = files.find((each) => each.scope === scope)?.path;
  return file !== undefined && concernsWrapped(settings) ? ['--config', relative(folder, file)] : [];
}

/** What the script and its server need of the environment where they do not inherit all of it: names, never values. */
function neededBy(definition: string, { env }: Context): Record<string, string> {
  const names = [
    ...referencesIn(definition),
    ...[...MODEL_VARIABLES, 'SWITCHBOARD_STATE_DIR'].filter((name) => env[name] !== undefined),
  ];
  return Object.fromEntries([...new Set(names)].map((name) => [name, `\${${name}:-}`]));
}

/** What the model of a server is to be told, and where that comes from. */
export interface FoundInstructions {
  readonly text: string;
  readonly from: 'file' | 'descriptions' | 'library' | 'draft';
  /** What the server said of itself, where it was started for that. */
  readonly about?: Answered['about'];
  /** Why the draft knows nothing of the server's tools. */
  readonly problem?: SwitchboardError | undefined;
}

type Answered = Extract<ProbedServer, { kind: 'answered' }>;

/** What no instructions have a reason to be longer than, in bytes. */
const MAX_BYTES = 1024 * 1024;

/** What a file says. */
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

/** What is known of a server, or else what it says of itself: for that it is started once. */
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

/** Whether it has to be started to be described. */
export function whereFrom(server: ServerDefinition): Exclude<FoundInstructions['from'], 'file'> {
  if (server.claude !== undefined) return 'descriptions';
  return knownAs(server) === undefined ? 'draft' : 'library';
}
