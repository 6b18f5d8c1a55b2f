import { resolve as resolvePath } from 'node:path';
import type { Candidate, CandidateDefinition, Warn } from './candidate.ts';
import { DEFAULTS } from './defaults.ts';
import { createFiller, type Filler } from './filler.ts';
import type { Environment } from './interpolate.ts';
import { keyPath } from './problem.ts';
import { recursionGuard } from './recursion.ts';
import type { Look, StdioServer } from './schema/config.ts';
import { overrideTimeouts, type Settings } from './settings.ts';
import { toolSettings, type Origin, type ToolSettings, type ToolWords } from './tool-settings.ts';

/** Everything needed to start one server and to show it. */
export interface ServerDefinition {
  readonly name: string;
  /** What the server is for, in its own words. */
  readonly description?: string | undefined;
  /** The whole description of its suite tool, as the server's definition gives it. */
  readonly switchboardDescription?: string | undefined;
  /**
   * Where it was defined: the file, and the place in it (empty for a file about one server). Both are empty for one that
   * was added while the gateway runs (isRuntimeServer).
   */
  readonly origin: Origin;
  readonly command: string;
  readonly args: readonly string[];
  /** The same as it was written, references not filled in: the form to show to people. */
  readonly written: { readonly command: string; readonly args: readonly string[]; readonly cwd: string };
  /** Absolute. */
  readonly cwd: string;
  /** Only what the definition gives, filled in; composeEnv makes the whole. Never to be logged. */
  readonly env: Readonly<Record<string, string>>;
  readonly inheritEnv: boolean | readonly string[];
  readonly framing: NonNullable<StdioServer['framing']>;
  /** In milliseconds. */
  readonly timeouts: Settings['timeouts'];
  /** Whether it is shown as one tool, with all its tools, or not at all. */
  readonly exposure: Settings['exposure'];
  /** Names of its tools and prompts where they are shown one by one. */
  readonly naming: Settings['naming'];
  /** What of it clients get to see. */
  readonly offer: Settings['offer'];
  /** Which tools are offered, and how they look. */
  readonly tools: ToolSettings;
  readonly suite: SuiteDefinition;
}

/** How a server is shown as one tool. */
export interface SuiteDefinition {
  /** The tool's name where one was given; otherwise it is made from the server's name. */
  readonly name?: string | undefined;
  /** The tool's whole description where one was given: switchboardDescription, else the configuration's. */
  readonly description?: string | undefined;
  /** Longest summary of a tool, in characters. */
  readonly summaryMaxChars: number;
  readonly mode: Settings['introspection']['mode'];
}

export interface ResolveOptions {
  readonly settings: Settings;
  /** The configuration file, where there is one. */
  readonly file: string | undefined;
  /** What references are filled in from. */
  readonly env: Environment;
  /** The script that runs now; an entry that starts it is us. */
  readonly ourScript: string | undefined;
  readonly warn: Warn;
}

export interface ResolvedServers {
  readonly servers: readonly ServerDefinition[];
  /** Names of the servers that are turned off. */
  readonly disabled: readonly string[];
  /** Names of those that are defined but cannot be used as they are written. */
  readonly unusable: readonly string[];
}

/** Decides which candidates are used (the first of each name) and makes definitions of them. */
export function resolveServers(candidates: readonly Candidate[], options: ResolveOptions): ResolvedServers {
  const { warn } = options;
  const context = { ...options, isOurselves: recursionGuard(options.ourScript) };
  const taken = new Map<string, Candidate>();
  const servers: ServerDefinition[] = [];
  const disabled: string[] = [];
  const unusable: string[] = [];
  for (const candidate of candidates) {
    const { name, definition } = candidate;
    const first = taken.get(name);
    if (first !== undefined) {
      const message = `"${name}" is already defined in ${place(first)}; this one is ignored`;
      // Turning off at home what a shared file defines is the reason to have both.
      warn({ ...origin(candidate), message, level: isDisabled(first.definition) ? 'info' : 'warn' });
      continue;
    }
    taken.set(name, candidate);
    if (isDisabled(definition)) {
      disabled.push(name);
    } else if (definition.kind === 'remote') {
      const message = `remote servers are not supported yet; "${name}" is skipped`;
      warn({ ...origin(candidate), message, level: 'warn' });
    } else if (definition.kind === 'stdio') {
      const server = defineServer(candidate, definition.server, context);
      if (server === undefined) unusable.push(name);
      else servers.push(server);
    } else unusable.push(name);
  }
  return { servers, disabled, unusable };
}

interface ResolveContext extends ResolveOptions {
  readonly isOurselves: (program: Program) => boolean;
}

type DescribedServer = Extract<CandidateDefinition, { kind: 'stdio' }>['server'];

/** What a candidate becomes in use; undefined, after a warning, where it cannot be used. */
export function defineServer(
  candidate: Candidate,
  server: DescribedServer,
  options: ResolveContext,
): ServerDefinition | undefined {
  const { settings, warn } = options;
  // A file about one server gives fewer settings than an entry; what it does not give is undefined here.
  const given: Partial<StdioServer> = server as StdioServer;
  const suite = settings.suites[candidate.name];
  const filler = createFiller(candidate.name, options.env, warn);
  const program = fillIn(candidate, server, filler);
  const tools = toolSettings(placesOf(candidate, given, suite, options.file), filler, warn);
  if (program === undefined || filler.failed) return undefined;
  if (options.isOurselves(program)) {
    const message = `"${candidate.name}" starts Switchboard itself and is left out, or it would start itself without end`;
    warn({ ...origin(candidate), message, level: 'info' });
    return undefined;
  }
  const exposure = suite?.exposure ?? given.exposure ?? settings.exposure;
  const general =
    exposure === 'flat' ? { ...settings.timeouts, idleMs: settings.flatIdleMs } : settings.timeouts;
  return {
    name: candidate.name,
    description: given.description,
    switchboardDescription: given.switchboardDescription,
    origin: { file: candidate.file, key: keyPath(candidate.path) },
    command: program.command,
    args: program.args,
    written: program.written,
    cwd: program.cwd,
    env: program.env,
    inheritEnv: given.inheritEnv ?? settings.inheritEnv,
    framing: given.framing ?? DEFAULTS.framing,
    timeouts: overrideTimeouts(general, given.timeouts),
    exposure,
    naming: settings.naming,
    offer: suite?.offer ?? given.offer ?? settings.offer,
    tools,
    suite: suiteOf(given, suite, settings),
  };
}

type Suite = Settings['suites'][string];

/** Where something may be said about the tools of a server: the configuration's word comes before the server's own. */
function placesOf(
  candidate: Candidate,
  given: Partial<StdioServer>,
  suite: Suite | undefined,
  file: string | undefined,
): ToolWords[] {
  const own: ToolWords = { file: candidate.file, path: candidate.path, says: given };
  if (suite === undefined) return [own];
  return [{ file: file ?? '', path: ['suites', candidate.name], says: suite as Look }, own];
}

/** Likewise, except for switchboardDescription. */
function suiteOf(
  server: Partial<StdioServer>,
  suite: Suite | undefined,
  settings: Settings,
): SuiteDefinition {
  return {
    name: suite?.suiteName ?? server.suiteName,
    description: server.switchboardDescription ?? suite?.description,
    summaryMaxChars:
      suite?.summaryMaxChars ?? server.summaryMaxChars ?? settings.introspection.summaryMaxChars,
    mode: settings.introspection.mode,
  };
}

type Program = Pick<ServerDefinition, 'command' | 'args' | 'written' | 'cwd' | 'env'>;

/** Command, arguments, directory and environment with references filled in; undefined when one could not be. */
function fillIn(candidate: Candidate, server: DescribedServer, filler: Filler): Program | undefined {
  const fill = (text: string, ...path: (string | number)[]): string => {
    const place = { file: candidate.file, path: [...candidate.path, ...path] };
    const filled = candidate.literal === true ? text : filler.fill(text, place);
    if (filled.includes('\0')) filler.fail(place, 'holds a NUL character');
    return filled;
  };

  const fillEnv = (given: StdioServer['env'] = {}, ...path: string[]): [string, string][] =>
    Object.entries(given).map(([name, value]) => [name, fill(String(value), ...path, name)]);
  const fillArgs = (given: readonly string[] = [], ...path: string[]): string[] =>
    given.map((arg, index) => fill(arg, ...path, index));

  const inner = typeof server.command === 'string' ? { cmd: server.command } : server.command;
  const command =
    typeof server.command === 'string' ? fill(server.command, 'command') : fill(inner.cmd, 'command', 'cmd');
  const args = [...fillArgs(inner.args, 'command', 'args'), ...fillArgs(server.args, 'args')];
  // fromEntries defines members, so a variable called "__proto__" is one like any other.
  const env = Object.fromEntries([...fillEnv(inner.env, 'command', 'env'), ...fillEnv(server.env, 'env')]);
  const cwd = 'cwd' in server && typeof server.cwd === 'string' ? fill(server.cwd, 'cwd') : '';
  if (filler.failed) return undefined;
  if (command.trim() === '') {
    filler.fail(candidate, `the command of "${candidate.name}" is empty`);
    return undefined;
  }
  const absolute = cwd === '' ? candidate.directory : resolvePath(candidate.directory, cwd);
  const cwdAsWritten = 'cwd' in server && typeof server.cwd === 'string' ? server.cwd : '';
  const written = {
    command: inner.cmd,
    args: [...(inner.args ?? []), ...(server.args ?? [])],
    cwd: candidate.literal !== true && cwdAsWritten.includes('${') ? cwdAsWritten : absolute,
  };
  return {
    command,
    args,
    written,
    cwd: absolute,
    env,
  };
}

function isDisabled(definition: CandidateDefinition): boolean {
  if (definition.kind === 'remote') return definition.disabled;
  return definition.kind === 'stdio' && definition.server.disabled === true;
}

function origin({ file, path }: Candidate): { file: string; key?: string } {
  return path.length === 0 ? { file } : { file, key: keyPath(path) };
}

function place(candidate: Candidate): string {
  const { file, key } = origin(candidate);
  return key === undefined ? file : `${file} (${key})`;
}
