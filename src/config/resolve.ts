import { resolve as resolvePath } from 'node:path';
import type { Candidate, CandidateDefinition, Warn } from './candidate.ts';
import { DEFAULTS } from './defaults.ts';
import { interpolate, type Environment } from './interpolate.ts';
import { keyPath } from './problem.ts';
import { recursionGuard } from './recursion.ts';
import type { StdioServer } from './schema/config.ts';
import { overrideTimeouts, type Settings } from './settings.ts';

/** Everything needed to start one server and to show it. */
export interface ServerDefinition {
  readonly name: string;
  /** What the server is for, in its own words. */
  readonly description?: string | undefined;
  /** The whole description of its suite tool, as the server's definition gives it. */
  readonly switchboardDescription?: string | undefined;
  /** Where it was defined: the file, and the place in it (empty for a file about one server). */
  readonly origin: { readonly file: string; readonly key: string };
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
  readonly suite: SuiteDefinition;
}

/** How a server is shown as one tool. */
export interface SuiteDefinition {
  /** The tool's name where one was given; otherwise it is made from the server's name. */
  readonly name?: string | undefined;
  /** The tool's whole description where one was given: switchboardDescription, else the configuration's. */
  readonly description?: string | undefined;
  /** Patterns of the only tools offered. Default: all are. */
  readonly allow?: readonly string[] | undefined;
  /** Patterns of tools not offered. Default: none. */
  readonly deny?: readonly string[] | undefined;
  /** Longest summary of a tool, in characters. */
  readonly summaryMaxChars: number;
  readonly mode: Settings['introspection']['mode'];
}

export interface ResolveOptions {
  readonly settings: Settings;
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
}

/** Decides which candidates are used (the first of each name) and makes definitions of them. */
export function resolveServers(candidates: readonly Candidate[], options: ResolveOptions): ResolvedServers {
  const { warn } = options;
  const context = { ...options, isOurselves: recursionGuard(options.ourScript) };
  const taken = new Map<string, Candidate>();
  const servers: ServerDefinition[] = [];
  const disabled: string[] = [];
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
      if (server !== undefined) servers.push(server);
    }
  }
  return { servers, disabled };
}

interface ResolveContext extends ResolveOptions {
  readonly isOurselves: (program: Program) => boolean;
}

type DescribedServer = Extract<CandidateDefinition, { kind: 'stdio' }>['server'];

function defineServer(
  candidate: Candidate,
  server: DescribedServer,
  options: ResolveContext,
): ServerDefinition | undefined {
  const { settings, warn } = options;
  const program = fillIn(candidate, server, options);
  if (program === undefined) return undefined;
  if (options.isOurselves(program)) {
    const message = `"${candidate.name}" starts Switchboard itself and is left out, or it would start itself without end`;
    warn({ ...origin(candidate), message, level: 'info' });
    return undefined;
  }
  // A file about one server gives fewer settings than an entry; what it does not give is undefined here.
  const given: Partial<StdioServer> = server as StdioServer;
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
    timeouts: overrideTimeouts(settings.timeouts, given.timeouts),
    suite: suiteOf(candidate.name, given, settings),
  };
}

/** The configuration's word about a server comes before the server's own, except for switchboardDescription. */
function suiteOf(name: string, server: Partial<StdioServer>, settings: Settings): SuiteDefinition {
  const suite = settings.suites[name];
  return {
    name: suite?.suiteName ?? server.suiteName,
    description: server.switchboardDescription ?? suite?.description,
    allow: suite?.expose?.allow ?? server.expose?.allow,
    deny: suite?.expose?.deny ?? server.expose?.deny,
    summaryMaxChars:
      suite?.summaryMaxChars ?? server.summaryMaxChars ?? settings.introspection.summaryMaxChars,
    mode: settings.introspection.mode,
  };
}

type Program = Pick<ServerDefinition, 'command' | 'args' | 'written' | 'cwd' | 'env'>;

/** Command, arguments, directory and environment with references filled in; undefined when one could not be. */
function fillIn(
  candidate: Candidate,
  server: DescribedServer,
  { env: ourEnv, warn }: ResolveOptions,
): Program | undefined {
  const failures: string[] = [];
  const fill = (text: string, ...path: (string | number)[]): string => {
    const result = interpolate(text, ourEnv);
    if (result.kind === 'text' && !result.text.includes('\0')) return result.text;
    failures.push(keyPath(path));
    const why =
      result.kind === 'unset'
        ? `the environment variable ${[...new Set(result.names)].join(', ')} is not set`
        : result.kind === 'unknown'
          ? `${result.reference} cannot be filled in here (\${NAME}, \${env:NAME} and \${NAME:-default} can, $\${ is a plain \${)`
          : 'holds a NUL character';
    const message = `${why}; "${candidate.name}" is skipped`;
    warn({ file: candidate.file, key: keyPath([...candidate.path, ...path]), message, level: 'warn' });
    return '';
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
  if (failures.length === 0 && command.trim() === '') {
    failures.push('command');
    warn({
      ...origin(candidate),
      message: `the command of "${candidate.name}" is empty; it is skipped`,
      level: 'warn',
    });
  }
  if (failures.length > 0) return undefined;
  const absolute = cwd === '' ? candidate.directory : resolvePath(candidate.directory, cwd);
  const cwdAsWritten = 'cwd' in server && typeof server.cwd === 'string' ? server.cwd : '';
  const written = {
    command: inner.cmd,
    args: [...(inner.args ?? []), ...(server.args ?? [])],
    cwd: cwdAsWritten.includes('${') ? cwdAsWritten : absolute,
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
