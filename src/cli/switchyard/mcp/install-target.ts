import { resolve } from 'node:path';
import { homeOf, bindProject } from '../../../switchyard/index.ts';
import {
  entriesOf,
  withFileContext,
  findHost,
  HOSTS,
  locationOf,
  plainEntry,
  programEntry,
  upsertEntry,
  type Entry,
  type HostLocation,
  hostEnvironment,
} from '../../../hosts/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import type { ParsedArguments, Flag } from '../../kit/arguments.ts';
import type { YardInvocation } from '../invocation.ts';
import { launchOf, type Launch } from './launch.ts';

/** The entry for the file of a client, and where it goes. */
export interface InstallTarget {
  /** The name of the server there, and of the project in our records. */
  readonly name: string;
  readonly root: string;
  readonly launch: Launch;
  readonly at: HostLocation;
  readonly entry: Entry;
  /** The state home that the server will use: the one in an existing entry, or ours. */
  readonly homeEnv: NodeJS.ProcessEnv;
  /** The variables of the entry. */
  readonly variables: Readonly<Record<string, string>>;
  /** The entry on its own, as text. */
  readonly text: string;
}

export const SERVER_NAME_FLAG: Flag = {
  name: 'name',
  value: 'NAME',
  summary: 'name of the server (default switchyard)',
};
export const FORCE_FLAG: Flag = { name: 'force', summary: 'replace another project that has this name' };
export const CLIENT_FLAG: Flag = {
  name: 'client',
  value: 'CLIENT',
  summary: `${HOSTS.map(({ name }) => name).join(', ')} (default codex)`,
};
/** For tests and other programs only; users run the command in the project. */
export const CWD_FLAG: Flag = {
  name: 'cwd',
  value: 'DIR',
  hidden: true,
  summary: 'the directory to start in',
};

/** The selected client. */
export function clientLocation(
  { flags }: ParsedArguments,
  invocation: Pick<YardInvocation, 'cwd' | 'env'>,
): HostLocation {
  return locationOf(findHost(flags.get('client') ?? 'codex'), 'user', hostEnvironment(invocation));
}

/**
 * Determines what `config` shows and `install` writes. `present` is the current text of the client's file, if it
 * matters.
 */
export function installTarget(
  given: ParsedArguments,
  invocation: Pick<YardInvocation, 'cwd' | 'env'>,
  present?: string,
): InstallTarget {
  const { flags } = given;
  const name = flags.get('name') ?? 'switchyard';
  const root = rootFor(invocation, flags.get('cwd'));
  const launch = launchOf({
    root,
    alias: name,
    script: process.argv[1] ?? '',
    node: process.execPath,
    env: invocation.env,
  });
  const at = clientLocation(given, invocation);
  const found =
    present === undefined ? undefined : withFileContext(at.file, () => entriesOf(present, at).get(name));
  const variables = variablesOf(found, invocation.env);
  const stored = variables.SWITCHYARD_HOME;
  const entry: Entry = {
    ...programEntry(at.host, { command: launch.command, args: launch.args, env: variables }),
    ...(at.host.name === 'codex' ? FOR_CODEX : {}),
  };
  return {
    name,
    root,
    launch,
    at,
    entry,
    variables,
    homeEnv: stored === undefined ? invocation.env : { ...invocation.env, SWITCHYARD_HOME: stored },
    text: upsertEntry('', at, name, { entry, notes: launch.comments }).text,
  };
}

/** Enough time for ten services to become ready, and approval before changes. */
const FOR_CODEX = {
  startup_timeout_sec: 10,
  tool_timeout_sec: 60,
  default_tools_approval_mode: 'prompt',
} as const;

function rootFor({ cwd, env }: Pick<YardInvocation, 'cwd' | 'env'>, given: string | undefined): string {
  const directory = given === undefined ? cwd : resolve(cwd, given);
  const { root, found } = bindProject({ directory }, env);
  if (found) return root;
  throw new SwitchboardError(
    'NO_PROJECT',
    `Could not find switchyard.toml from ${directory}; run \`switchyard init\` there first.`,
  );
}

/** Keeps existing variables, with the full path of the state home; adds a state home that is set now. Sorted. */
function variablesOf(present: unknown, env: NodeJS.ProcessEnv): Record<string, string> {
  const { env: table } = (plainEntry(present) ?? {}) as { env?: unknown };
  const stored = Object.entries((table ?? {}) as Record<string, unknown>).filter(
    (pair): pair is [string, string] => typeof pair[1] === 'string',
  );
  const all = new Map(stored);
  const home = all.get('SWITCHYARD_HOME') ?? env.SWITCHYARD_HOME;
  if (home) all.set('SWITCHYARD_HOME', homeOf({ ...env, SWITCHYARD_HOME: home }).root);
  return Object.fromEntries([...all].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The `--json` output for a target. */
export function installTargetData({
  name,
  at,
  text,
  launch,
  variables,
}: InstallTarget): Record<string, unknown> {
  return {
    name,
    client: at.host.name,
    config_path: at.file,
    ...(at.host.name === 'codex' ? { codex_config_path: at.file } : {}),
    config_text: text,
    command: launch.command,
    args: launch.args,
    comments: launch.comments,
    env: variables,
    uses_interpreter_fallback: launch.usesInterpreter,
  };
}
