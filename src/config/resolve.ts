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
  /** The file that holds each entry of `suites`, by the name of the server. */
  readonly suiteFiles: ReadonlyMap<string, string>;
  /** What references are filled in from. */
  readonly env: Environment;
  /** Default: none is set. */
  readonly secrets?: Secrets | undefined;
  /** What mcp-descriptions.json says of servers. Default: nothing. */
  readonly descriptions?: Descriptions | undefined;
  /** The script that runs now; an entry that starts it is us. */
  readonly ourScript: string | undefined;
  readonly warn: Warn;
  /** How to allow the project, as a sentence; for servers whose file is not allowed yet. */
  readonly howToAllow?: string | undefined;
  /** What has been warned of so far, by `warn` too. */
  readonly warnings: readonly ConfigWarning[];
  /** Default: the system we run on. */
  readonly platform?: NodeJS.Platform;
}

export interface ResolvedServers {
  /**
   * The first wins: those of the project's file, then what its patterns find, then its root `.mcp.json`; then the same of
   * the user, without a root `.mcp.json`.
   */
  readonly servers: readonly ServerDefinition[];
  /** Names of servers that are turned off. */
  readonly disabled: readonly string[];
  /** Where those are defined, by name. */
  readonly disabledAt?: ReadonlyMap<string, Pick<ServerCandidate, 'file' | 'path'>> | undefined;
  /** Servers that are defined but cannot be used as they are written, and why; a warning says it too. */
  readonly unusable: readonly UnusableServer[];
  /** The names of all servers, also of those that are turned off, in the order in which the files have them. */
  readonly order: readonly string[];
}

/** The servers of a configuration that are not turned off, in its order. One added since comes last. */
export function inConfigOrder({
  servers,
  unusable,
  order,
}: Omit<ResolvedServers, 'disabled'>): readonly ConfiguredServer[] {
  const positions = new Map(order.map((name, at) => [name, at]));
  const positionOf = ({ name }: ConfiguredServer): number => positions.get(name) ?? order.length;
  return [...servers, ...unusable].sort((one, other) => positionOf(one) - positionOf(other));
}

/** Decides which candidates are used (the first of each name) and makes definitions of them. */
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
      // Turning off at home what a shared file defines is the reason to have both, as is a project's own version.
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

/** What a candidate that is started becomes in use; undefined, after a warning, where it cannot be used. */
export function defineProgram(
  candidate: ServerCandidate,
  server: DescribedProgram,
  options: DefineOptions,
): StdioDefinition | undefined {
  const { settings, warn } = options;
  // A file about one server gives fewer settings than an entry; what it does not give is undefined here.
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

/** The same for one that runs elsewhere. */
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

/** The same for one that is a part of this program. */
function defineBuiltin(
  candidate: ServerCandidate,
  server: BuiltinServer,
  options: DefineOptions,
): BuiltinDefinition | undefined {
  const { builtin, project, ...given } = server;
  const filler = createFiller(candidate.name, options);
  const location = { file: candidate.file, path: [...candidate.path, 'project'] };
  // Empty, as ${NAME:-} gives it where NAME is not set, means: none.
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

/** Whether its person says what it is, by writing it or by naming the file. */
function isOwn({ scope }: ServerCandidate): boolean {
  return scope === 'user' || scope === 'explicit';
}

/** Of a server whose file is not allowed yet only the name is used, and it is shown as one tool that can ask. */
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

/** Of one that this system cannot run, what is written may be right. */
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

/** By what is written: nothing is filled in for a stranger. */
function isOurEntry(
  { definition, directory }: ServerCandidate,
  isOurselves: ReturnType<typeof recursionGuard>,
): boolean {
  if (definition.kind !== 'stdio') return false;
  const { command, args = [] } = definition.server;
  const [program, first] = typeof command === 'string' ? [command, []] : [command.cmd, command.args ?? []];
  return isOurselves({ command: program, args: [...first, ...args], cwd: directory });
}

/** What a candidate that cannot be used becomes: how it would be shown, what is wrong, and what to do. */
function unusableServer(candidate: ServerCandidate, options: ResolveOptions): UnusableServer {
  const { name, file } = candidate;
  const reported = options.warnings.filter((warning) => warning.server === name && warning.file === file);
  const unset = [...new Set(reported.flatMap((warning) => warning.unset ?? []))];
  const unsetSecrets = [...new Set(reported.flatMap((warning) => warning.unsetSecrets ?? []))];
  const keys = reported.flatMap(({ key }) => (key === undefined || key === '' ? [] : [key]));
  const where = [keys.slice(0, MAX_REPORTED).join(', '), file].filter((part) => part !== '').join(' in ');
  // What is wrong has been warned of already.
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
        // A sentence of ours follows.
        .replace(/\.$/, '') || 'its definition is invalid',
    nextStep: nextStepFor(unset, unsetSecrets, where),
  };
}

/** What to do about what is missing, or else about the entry. */
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

/** Number of problems that are reported; the log has them all. */
const MAX_REPORTED = 3;

/** How a server is shown, as far as its definition is right about that. */
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

/** No description needs more, in UTF-16 units. */
const LONGEST_TEXT = 1000;

/** What those that come with this program are for, unless their definition says it. */
const PURPOSES: Readonly<Record<BuiltinServer['builtin'], string>> = {
  switchyard:
    'the local services of this repository: where each runs, its logs, and starting and stopping them branch by branch',
};

/** What may be reported of any server. */
export type CommonServerSettings = Partial<Pick<StdioServer, keyof StdioServer & keyof RemoteServer>>;

/** What does not depend on how the server is reached. */
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
    // With a model in front of it, no client lists its own tools.
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

/** Where something may be reported about the tools of a server: the configuration's word comes before the server's own. */
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

/** Likewise. What is written for this suite alone comes before what is written for a server or for many. */
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
