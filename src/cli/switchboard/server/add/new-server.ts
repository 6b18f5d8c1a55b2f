import { isAbsolute, join, relative, resolve } from 'node:path';
import {
  CONFIG_NAMES,
  defineRemoteServer,
  defineRuntimeServer,
  describeWarning,
  entryForConfig,
  interpolate,
  refuseBadName,
  redactUrl,
  interpolationProblem,
  type LoadedConfig,
  type RemoteEntry,
  type RuntimeEntry,
  type ServerDefinition,
  type StdioDefinition,
} from '../../../../config/index.ts';
import { messageOf, SwitchboardError } from '../../../../shared/errors.ts';
import { usage, type ParsedArguments } from '../../../kit/arguments.ts';
import type { Context } from '../../command.ts';
import { redactCommand, type RedactedCommand } from '../../../../config/index.ts';
import type { ConfigTarget } from '../../config/config-target.ts';
import { programProblems } from '../check-server.ts';
import { numberIn } from '../../language/language-flags.ts';
import { secretsOf, secretWarning } from '../../config/project-secrets.ts';
import { remoteEntry, SECRET_NAME, secretsRemark } from './remote-flags.ts';

/** A program or remote server that `add` is to write to the configuration. */
export interface NewServer {
  /** The entry as written to the file. */
  readonly entry: object;
  readonly shown: RedactedCommand;
  /** Additional `--json` output. */
  readonly data: object;
  /** What the user should know about it, except the outcome of starting it if it was `tried`. */
  readonly remark: (tried: boolean) => string;
  /** Throws if it cannot be used now. */
  readonly define: () => ServerDefinition;
}

/** The parts of the context that are needed. */
type CommandContext = Pick<Context, 'variant' | 'cwd' | 'env' | 'log'>;

type Prepare = (
  name: string,
  config: LoadedConfig,
  target: ConfigTarget,
  context: CommandContext,
) => NewServer;

/** What the arguments describe, as far as can be determined without a configuration; undefined if nothing. */
export function newServerFrom(given: ParsedArguments, program: string): Prepare | undefined {
  const remote = remoteEntry(given);
  const isolation = isolationOf(given);
  const limit = timeLimitOf(given);
  if (remote !== undefined) return remoteAddition({ ...remote, ...isolation, ...limit });
  const [name = '', command, ...args] = given.words;
  if (command === undefined) return undefined;
  if (/^https?:\/\//i.test(command)) throw addressAsCommand(name, command, program);
  return programAddition({ command, args, ...limit }, variablesOf(given), given.flags.get('cwd'), isolation);
}

/** Nobody intends to start a program with that name. */
function addressAsCommand(name: string, address: string, program: string): SwitchboardError {
  const shown = redactUrl(address);
  return usage(
    `${JSON.stringify(shown)} is a URL, not a command.`,
    `For a remote server, run: ${program} add ${name} --url ${shown}`,
  );
}

/** The command is literal; references in the values of variables are kept, as in an entry of the file. */
function programAddition(
  program: RuntimeEntry,
  variables: Readonly<Record<string, string>>,
  cwd: string | undefined,
  isolation: Pick<RemoteEntry, 'isolation'>,
): Prepare {
  return (name, config, target, context) => {
    const entry = cwd === undefined ? program : { ...program, cwd: directoryFor(cwd, target, context) };
    const { program: us } = context.variant;
    const define = (env: RuntimeEntry['env']) =>
      defineRuntimeServer(
        name,
        { ...entry, env },
        {
          settings: config.settings,
          // A user's server without its own directory is started in the project.
          directory: target.scope === 'user' ? config.directory : target.directory,
          suiteFiles: config.suiteFiles,
          env: context.env,
          warn: (warning) => context.log[warning.level](describeWarning(warning)),
        },
      );
    const definition = define(variables);
    const filled = () => define(filledIn(variables, context.env, config.secrets));
    const env = Object.keys(variables);
    return {
      entry: { ...entryForConfig(entry), ...(env.length === 0 ? {} : { env: variables }), ...isolation },
      shown: redactCommand(definition),
      data: { env, cwd: definition.written.cwd },
      remark: (tried) =>
        literalRemark(entry, us) +
        (secretsIn({ ...entry, env: variables }, name, target, us) || openSecretsRemark(variables, us)) +
        (tried ? '' : unusableRemark(() => startable(filled(), context.env), us)),
      define: filled,
    };
  };
}

function remoteAddition(entry: RemoteEntry): Prepare {
  return (name, config, target, context) => {
    refuseBadName(name);
    const { directory } = target;
    const { program } = context.variant;
    const { url, type = 'auto', headers = {} } = entry;
    const { settings, suiteFiles, secrets } = config;
    const define = () =>
      defineRemoteServer(name, entry, { settings, directory, suiteFiles, secrets, env: context.env });
    return {
      entry,
      shown: { command: '', args: [], url: redactUrl(url) },
      data: { transport: type, headers: Object.keys(headers) },
      remark: (tried) =>
        (secretsIn(entry, name, target, program) || secretsRemark(entry, program)) +
        (tried ? '' : unusableRemark(define, program)),
      define,
    };
  };
}

/**
 * A remark about literal secrets that would be written to a file that other people have, too; empty if there are none.
 */
function secretsIn(
  entry: object,
  name: string,
  { scope, file, directory }: ConfigTarget,
  program: string,
): string {
  if (scope !== 'project') return '';
  const secrets = secretsOf(file ?? join(directory, CONFIG_NAMES[0]), name, entry);
  return secrets.map((secret) => `${program}: ${secretWarning(secret, program)}\n`).join('');
}

/** Throws if a program could not be started from here. */
function startable(definition: StdioDefinition, env: NodeJS.ProcessEnv): void {
  const [problem] = programProblems(definition, env);
  if (problem !== undefined)
    throw new SwitchboardError('SERVER_INVALID', `${problem.message}. ${problem.hint}`);
}

/** It may be usable where the gateway is started. */
function unusableRemark(define: () => unknown, program: string): string {
  try {
    define();
    return '';
  } catch (error) {
    return `${program}: the server is not available yet: ${messageOf(error)}\n`;
  }
}

function isolationOf({ flags }: ParsedArguments): Pick<RemoteEntry, 'isolation'> {
  const isolation = flags.get('isolation');
  if (isolation === undefined) return {};
  if (isolation === 'session' || isolation === 'shared' || isolation === 'call') return { isolation };
  throw usage(
    `Unknown isolation ${JSON.stringify(isolation)}.`,
    'Use "session" (one server process per client), "shared" (one for all) or "call" (one for each tool call).',
  );
}

function timeLimitOf({ flags }: ParsedArguments): Pick<RuntimeEntry, 'timeouts'> {
  const childSpawnMs = numberIn(flags, 'timeout-ms', 2_147_483_647);
  return childSpawnMs === undefined ? {} : { timeouts: { childSpawnMs } };
}

function variablesOf({ lists }: ParsedArguments): Record<string, string> {
  const pairs = (lists.get('env') ?? []).map((text) => {
    const equals = text.indexOf('=');
    // The input is not shown: it may be only the value, which may be a secret.
    if (equals < 1) throw usage('--env needs a name and a value.', 'For example: --env LOG_LEVEL=debug');
    return [text.slice(0, equals), text.slice(equals + 1)] as const;
  });
  return Object.fromEntries(pairs);
}

/** A directory as typed, relative to the working directory; the file resolves it from its own folder. */
function directoryFor(given: string, { scope, directory }: ConfigTarget, { cwd }: CommandContext): string {
  const path = resolve(cwd, given);
  if (scope === 'user') return path;
  if (isAbsolute(given) || resolve(cwd) === directory) return given;
  const within = relative(directory, path);
  return within.startsWith('..') || isAbsolute(within) ? path : within || '.';
}

/** The variables with their references filled in; throws if one of these is not set. */
function filledIn(
  variables: Readonly<Record<string, string>>,
  env: NodeJS.ProcessEnv,
  secrets: LoadedConfig['secrets'],
): Readonly<Record<string, string>> {
  const entries = Object.entries(variables).map(([name, value]) => {
    const filled = interpolate(value, env, secrets);
    if (filled.kind === 'text') return [name, filled.text] as const;
    throw new SwitchboardError('SERVER_INVALID', `env.${name}: ${interpolationProblem(filled)}.`, {
      hint: 'Set what is missing, or correct the entry.',
    });
  });
  return Object.fromEntries(entries);
}

/** A remark about secrets that would be written to the file itself; empty if there are none. */
function openSecretsRemark(variables: Readonly<Record<string, string>>, program: string): string {
  const open = Object.entries(variables).find(
    ([name, value]) => SECRET_NAME.test(name) && value !== '' && !value.includes('${'),
  )?.[0];
  if (open === undefined) return '';
  return (
    `${program}: the value of ${open} is written to the file. To keep it out, use --env '${open}=\${secret:${open}}' and run ` +
    `\`${program} secret set ${open}\`, or '${open}=\${${open}}' and set ${open} where the gateway is started.\n`
  );
}

/** A warning if the user may have intended something else. */
function literalRemark({ command, args = [], cwd = '' }: RuntimeEntry, program: string): string {
  const texts = [command, ...args, cwd];
  if (!texts.some((text) => /\$\{(?:env:|secret:)?\w+/.test(text))) return '';
  return `${program}: \${…} in the command was taken literally. For references elsewhere than in --env, edit the file.\n`;
}
