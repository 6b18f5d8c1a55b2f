import { secretReferences, type Secrets } from '../secrets/index.ts';
import type { SwitchboardError } from '../shared/errors.ts';
import { isObject } from '../shared/is-object.ts';
import { switchyardUnsupported } from '../shared/switchyard-platform.ts';
import type { ServerCandidate, CandidateDefinition, Warn } from './candidate.ts';
import { stricterPin, toolApproval } from './approval.ts';
import { DEFAULTS, EXPOSURES } from './defaults.ts';
import type {
  BuiltinDefinition,
  ConfiguredServer,
  RemoteDefinition,
  ServerDefinition,
  StdioDefinition,
  SuiteDefinition,
  UnusableServer,
} from './definition.ts';
import type { Descriptions } from './descriptions.ts';
import { createFiller, type ReferenceFiller } from './filler.ts';
import type { Environment } from './interpolate.ts';
import { languageOf } from './language.ts';
import { keyPath, unusableWarning, type ConfigWarning } from './problem.ts';
import { fillInProgram, type DescribedProgram } from './program.ts';
import { recursionGuard } from './recursion.ts';
import { fillInRemote, type DescribedRemote } from './remote.ts';
import type { BuiltinServer, PresentationSettings, RemoteServer, StdioServer } from './schema/config.ts';
import { resultSettings } from './result-settings.ts';
import { sandboxOf } from './sandbox.ts';
import { overrideTimeouts, type Settings } from './settings.ts';
import { toolSettings, type ToolSettingSource } from './tool-settings.ts';

export interface ResolveOptions {
  readonly settings: Settings;
  /** The file that contains each entry of `suites`, by the name of the server. */
  readonly suiteFiles: ReadonlyMap<string, string>;
  /** What references are filled in from. */
  readonly env: Environment;
  /** Default: no secrets are set. */
  readonly secrets?: Secrets | undefined;
  /** The content of mcp-descriptions.json, by server. Default: none. */
  readonly descriptions?: Descriptions | undefined;
  /** The script that is running; an entry that starts it is ourselves. */
  readonly ourScript: string | undefined;
  readonly warn: Warn;
  /** How to allow the project, as a sentence, for servers whose file is not allowed yet. */
  readonly howToAllow?: string | undefined;
  /** All warnings so far, including those passed to `warn`. */
  readonly warnings: readonly ConfigWarning[];
  /** Default: the current system. */
  readonly platform?: NodeJS.Platform;
}

export interface ResolvedServers {
  /**
   * In order of precedence: those of the project file, then those that its patterns find, then its root `.mcp.json`;
   * then the same of the user, without a root `.mcp.json`.
   */
  readonly servers: readonly ServerDefinition[];
  /** Names of disabled servers. */
  readonly disabled: readonly string[];
  /** Where the disabled servers are defined, by name. */
  readonly disabledAt?: ReadonlyMap<string, Pick<ServerCandidate, 'file' | 'path'>> | undefined;
  /** Servers that are defined but cannot be used, and why; a warning also says so. */
  readonly unusable: readonly UnusableServer[];
  /** The names of all servers, including disabled ones, in the order of the files. */
  readonly order: readonly string[];
}

/** The enabled servers of a configuration, in its order. Servers added since come last. */
export function inConfigOrder({
  servers,
  unusable,
  order,
}: Omit<ResolvedServers, 'disabled'>): readonly ConfiguredServer[] {
  const positions = new Map(order.map((name, at) => [name, at]));
  const positionOf = ({ name }: ConfiguredServer): number => positions.get(name) ?? order.length;
  return [...servers, ...unusable].sort((one, other) => positionOf(one) - positionOf(other));
}

/** Decides which candidates are used (the first with each name) and creates their definitions. */
export function resolveServers(
  candidates: readonly ServerCandidate[],
  options: ResolveOptions,
): ResolvedServers {
  const { warn } = options;
  const isOurselves = recursionGuard(options.ourScript);
  const taken = new Map<string, ServerCandidate>();
  const servers: ServerDefinition[] = [];
  const disabledAt = new Map<string, Pick<ServerCandidate, 'file' | 'path'>>();
  const unusable: UnusableServer[] = [];
  for (const candidate of candidates) {
    const { name, definition } = candidate;
    const first = taken.get(name);
    if (first !== undefined) {
      const message = `"${name}" is already defined in ${locationText(first)}; this one is ignored`;
      // It is normal that a user file disables what a shared file defines, or that a project has its own version.
      const meant =
        isDisabled(first.definition) || first.scope !== candidate.scope || candidate.notAllowed === true;
      warn({ ...origin(candidate), message, level: meant ? 'info' : 'warn' });
      continue;
    }
    if (candidate.notAllowed === true) {
      if (isDisabled(definition) || isOurEntry(candidate, isOurselves)) continue;
      taken.set(name, candidate);
      unusable.push(notAllowedServer(candidate, options));
      continue;
    }
    taken.set(name, candidate);
    if (isDisabled(definition)) {
      disabledAt.set(name, { file: candidate.file, path: candidate.path });
      continue;
    }
    const unsupported = definition.kind === 'builtin' ? switchyardUnsupported(options.platform) : undefined;
    if (unsupported !== undefined) {
      unusable.push(unsupportedServer(candidate, unsupported, options));
      continue;
    }
    const server = defineServer(candidate, options);
    if (server === undefined) unusable.push(unusableServer(candidate, options));
    else if (server.kind === 'stdio' && isOurselves(server)) {
      const message = `"${name}" starts Switchboard itself and is skipped to avoid an endless loop`;
      warn({ ...origin(candidate), message, level: 'info', server: name });
    } else servers.push(server);
  }
  return { servers, disabled: [...disabledAt.keys()], disabledAt, unusable, order: [...taken.keys()] };
}

type DefineOptions = Omit<ResolveOptions, 'ourScript' | 'warnings'>;

function defineServer(candidate: ServerCandidate, context: DefineOptions): ServerDefinition | undefined {
  const { definition } = candidate;
  switch (definition.kind) {
    case 'stdio':
      return defineProgram(candidate, definition.server, context);
    case 'remote':
      return defineRemote(candidate, definition.server, context);
    case 'builtin':
      return defineBuiltin(candidate, definition.server, context);
    default:
      return undefined;
  }
}

/** The definition of a candidate that is started as a program; undefined, after a warning, if it cannot be used. */
export function defineProgram(
  candidate: ServerCandidate,
  server: DescribedProgram,
  options: DefineOptions,
): StdioDefinition | undefined {
  const { settings, warn } = options;
  // A file about one server has fewer settings than an entry; the others are undefined here.
  const given: Partial<StdioServer> = server;
  const filler = createFiller(candidate.name, options);
  const program = fillInProgram(candidate, server, filler);
  const common = commonOf(candidate, given, filler, options);
  const sandbox = sandboxOf(candidate, given.sandbox, filler, options);
  if (program === undefined || filler.failed) return undefined;
  warnOfOpenSecrets(candidate, program, warn);
  return {
    kind: 'stdio',
    ...common,
    ...program,
    ...secretsIn(filler),
    inheritEnv: given.inheritEnv ?? settings.inheritEnv,
    framing: given.framing ?? DEFAULTS.framing,
    ...(sandbox === undefined ? {} : { sandbox }),
    stopFirst: given.stopFirst,
  };
}

/** The same for a remote server. */
export function defineRemote(
  candidate: ServerCandidate,
  server: DescribedRemote,
  options: DefineOptions,
): RemoteDefinition | undefined {
  const filler = createFiller(candidate.name, options);
  const remote = fillInRemote(candidate, server, filler, options.warn);
  const common = commonOf(candidate, server.settings, filler, options);
  if (remote === undefined || filler.failed) return undefined;
  const childSpawnMs = server.settings.timeouts?.childSpawnMs ?? options.settings.remoteStartMs;
  return {
    kind: 'remote',
    ...common,
    ...remote,
    ...secretsIn(filler),
    timeouts: { ...common.timeouts, childSpawnMs },
  };
}

function secretsIn({ secrets }: ReferenceFiller): Pick<ServerDefinition, 'secrets'> {
  return secrets.length === 0 ? {} : { secrets };
}

/** Everyone on a machine can see the command lines of its processes. */
function warnOfOpenSecrets(
  { file, path, literal }: ServerCandidate,
  { written: { command, args } }: Pick<StdioDefinition, 'written'>,
  warn: Warn,
): void {
  if (literal === true || secretReferences([command, args]).length === 0) return;
  const message =
    'other users of this machine can see a secret on a command line (with `ps`); pass it in "env" instead';
  warn({ file, key: keyPath([...path, 'args']), message, level: 'warn' });
}

/** The same for a built-in server. */
function defineBuiltin(
  candidate: ServerCandidate,
  server: BuiltinServer,
  options: DefineOptions,
): BuiltinDefinition | undefined {
  const { builtin, project, ...given } = server;
  const filler = createFiller(candidate.name, options);
  const location = { file: candidate.file, path: [...candidate.path, 'project'] };
  // An empty text counts as unset: `${NAME:-}` results in one if NAME is not set.
  const filled = project === undefined ? undefined : filler.fill(project, location).trim() || undefined;
  const common = commonOf(candidate, given, filler, options);
  if (filler.failed) return undefined;
  return {
    kind: 'builtin',
    ...common,
    ...secretsIn(filler),
    description: common.description ?? PURPOSES[builtin],
    isolation: 'session',
    builtin,
    project: filled,
    named: filled !== undefined && filled === project?.trim() && isOwn(candidate),
    directory: filled === undefined ? (candidate.startIn ?? candidate.directory) : candidate.directory,
    written: { builtin, project },
  };
}

/** Whether the user has chosen it, by writing it or by naming the file. */
function isOwn({ scope }: ServerCandidate): boolean {
  return scope === 'user' || scope === 'explicit';
}

/**
 * Of a server whose file is not allowed yet, only the name is used. It is exposed as one tool that can ask for
 * approval.
 */
function notAllowedServer(candidate: ServerCandidate, options: ResolveOptions): UnusableServer {
  const nothing = { ...candidate, definition: { kind: 'unusable' } } as const;
  return {
    ...unusableServer(nothing, { ...options, descriptions: undefined, warnings: [] }),
    exposure: 'suite',
    offer: ['tools'],
    reason: `${candidate.file} is not allowed yet`,
    nextStep: options.howToAllow ?? '',
    notAllowed: true,
  };
}

/** A server that this system cannot run may still be defined correctly. */
function unsupportedServer(
  candidate: ServerCandidate,
  { message, hint = '', explained }: SwitchboardError,
  options: ResolveOptions,
): UnusableServer {
  options.warn(unusableWarning(candidate.name, candidate, explained));
  return {
    ...unusableServer(candidate, options),
    reason: message.replace(/\.$/, ''),
    nextStep: `${hint}.`,
  };
}

/** Checks the text as written, because references of untrusted files are not filled in. */
function isOurEntry(
  { definition, directory }: ServerCandidate,
  isOurselves: ReturnType<typeof recursionGuard>,
): boolean {
  if (definition.kind !== 'stdio') return false;
  const { command, args = [] } = definition.server;
  const [program, first] = typeof command === 'string' ? [command, []] : [command.cmd, command.args ?? []];
  return isOurselves({ command: program, args: [...first, ...args], cwd: directory });
}

/** The definition of an unusable candidate: how it would be exposed, what is wrong, and what to do. */
function unusableServer(candidate: ServerCandidate, options: ResolveOptions): UnusableServer {
  const { name, file } = candidate;
  const reported = options.warnings.filter((warning) => warning.server === name && warning.file === file);
  const unset = [...new Set(reported.flatMap((warning) => warning.unset ?? []))];
  const unsetSecrets = [...new Set(reported.flatMap((warning) => warning.unsetSecrets ?? []))];
  const keys = reported.flatMap(({ key }) => (key === undefined || key === '' ? [] : [key]));
  const where = [keys.slice(0, MAX_REPORTED).join(', '), file].filter((part) => part !== '').join(' in ');
  // A warning has already said what is wrong.
  const quiet = { ...options, warn: () => undefined };
  const filler = createFiller(name, quiet);
  return {
    kind: 'unusable',
    ...commonOf(candidate, presentationOf(candidate.definition), filler, quiet),
    language: undefined,
    reason:
      [...new Set(reported.flatMap(({ why }) => why ?? []))]
        .slice(0, MAX_REPORTED)
        .join('; ')
        // One of our own sentences follows.
        .replace(/\.$/, '') || 'its definition is invalid',
    nextStep: nextStepFor(unset, unsetSecrets, where),
  };
}

/** What to do about what is missing, or otherwise about the entry. */
function nextStepFor(unset: readonly string[], unsetSecrets: readonly string[], where: string): string {
  if (unset.length + unsetSecrets.length === 0) return `Correct ${where}.`;
  const run = unsetSecrets.map((name) => `switchboard secret set ${name}`).join(', then ');
  const steps = [
    ...(unset.length === 0
      ? []
      : [`Set ${unset.join(', ')} in the environment where this program is started, or change ${where}.`]),
    ...(run === '' ? [] : [`Run: ${run}`]),
  ];
  return steps.join(' ');
}

/** How many problems are reported; the log contains them all. */
const MAX_REPORTED = 3;

/** How a server is exposed, as far as its definition is valid in that respect. */
function presentationOf(definition: CandidateDefinition): CommonServerSettings {
  if (definition.kind === 'remote') return definition.server.settings;
  const entry =
    definition.kind === 'unusable' ? definition.entry : 'server' in definition && definition.server;
  if (!isObject(entry)) return {};
  const { exposure, suiteName, description, switchboardDescription } = entry;
  const text = (value: unknown): string | undefined =>
    typeof value === 'string' && value.trim() !== '' ? value.slice(0, LONGEST_TEXT) : undefined;
  return {
    exposure: EXPOSURES.find((each) => each === exposure),
    suiteName: typeof suiteName === 'string' && /^[\w-]{1,64}$/.test(suiteName) ? suiteName : undefined,
    description: text(description),
    switchboardDescription: text(switchboardDescription),
  };
}

/** The longest description, in UTF-16 units. */
const LONGEST_TEXT = 1000;

/** The purposes of the built-in servers, unless their definition sets one. */
const PURPOSES: Readonly<Record<BuiltinServer['builtin'], string>> = {
  switchyard:
    'the local services of this repository: where each runs, its logs, and starting and stopping them branch by branch',
};

/** The settings that any server may have. */
export type CommonServerSettings = Partial<Pick<StdioServer, keyof StdioServer & keyof RemoteServer>>;

/** The parts that do not depend on how the server is reached. */
function commonOf(
  candidate: ServerCandidate,
  given: CommonServerSettings,
  filler: ReferenceFiller,
  options: DefineOptions,
) {
  const { settings, suiteFiles, warn } = options;
  const suite = settings.suites[candidate.name];
  const described = options.descriptions?.get(candidate.name);
  const exposure = suite?.exposure ?? given.exposure ?? settings.exposure;
  const language = languageOf(candidate, given.language, filler);
  const general =
    // With a language model in front of it, no client lists the server's own tools.
    exposure === 'flat' && language === undefined
      ? { ...settings.timeouts, idleMs: settings.flatIdleMs }
      : settings.timeouts;
  const tools = toolSettings(toolSettingSources(candidate, given, suite, suiteFiles), filler, warn);
  const { user = {} } = settings;
  const { suites = {} } = user;
  const ofUser = candidate.scope === 'user' ? given : undefined;
  return {
    name: candidate.name,
    description: given.description,
    switchboardDescription: given.switchboardDescription,
    origin: { file: candidate.file, key: keyPath(candidate.path), scope: candidate.scope },
    timeouts: overrideTimeouts(general, given.timeouts),
    isolation: given.isolation ?? settings.isolation,
    maxProcesses: given.maxProcesses,
    exposure,
    naming: settings.naming,
    offer: suite?.offer ?? given.offer ?? settings.offer,
    tools,
    approval: toolApproval(
      [suite, given, { approve: settings.approve }],
      [
        Object.hasOwn(suites, candidate.name) ? suites[candidate.name] : undefined,
        ofUser,
        { approve: user.approve },
      ],
    ),
    pin: stricterPin(given.pin ?? settings.pin, ofUser?.pin ?? user.pin),
    suite: suiteOf(given, suite, settings, described?.switchboard),
    results: resultSettings(suite?.results, given.results, settings.results),
    claude: described?.claude,
    language,
  };
}

type Suite = Settings['suites'][string];

/**
 * Where settings for a server's tools may come from. The configuration takes precedence over the server's own
 * definition.
 */
function toolSettingSources(
  candidate: ServerCandidate,
  given: CommonServerSettings,
  suite: Suite | undefined,
  suiteFiles: ReadonlyMap<string, string>,
): ToolSettingSource[] {
  const own: ToolSettingSource = { file: candidate.file, path: candidate.path, settings: given };
  if (suite === undefined) return [own];
  const file = suiteFiles.get(candidate.name) ?? '';
  return [{ file, path: ['suites', candidate.name], settings: suite as PresentationSettings }, own];
}

/** The same for its suite. Settings for this suite alone take precedence over those for a server or for many. */
function suiteOf(
  server: CommonServerSettings,
  suite: Suite | undefined,
  settings: Settings,
  described: string | undefined,
): SuiteDefinition {
  return {
    name: suite?.suiteName ?? server.suiteName,
    description: [suite?.description, server.switchboardDescription, described].find(
      (text) => text !== undefined && text.trim() !== '',
    ),
    summaryMaxChars:
      suite?.summaryMaxChars ?? server.summaryMaxChars ?? settings.introspection.summaryMaxChars,
    instructionsMaxChars: settings.instructions.maxChars,
    mode: settings.introspection.mode,
    split: suite?.suite?.split ?? server.suite?.split ?? settings.suite?.split,
  };
}

function isDisabled(definition: CandidateDefinition): boolean {
  if (definition.kind === 'stdio') return definition.server.disabled === true;
  return definition.kind === 'disabled';
}

function origin({ file, path }: ServerCandidate): { file: string; key?: string } {
  return path.length === 0 ? { file } : { file, key: keyPath(path) };
}

function locationText(candidate: ServerCandidate): string {
  const { file, key } = origin(candidate);
  return key === undefined ? file : `${file} (${key})`;
}
