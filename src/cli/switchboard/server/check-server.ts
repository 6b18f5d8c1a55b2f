import { statSync, accessSync, constants } from 'node:fs';
import { basename, resolve } from 'node:path';
import {
  composeEnv,
  envNames,
  type RemoteDefinition,
  type ServerDefinition,
  type StdioDefinition,
} from '../../../config/index.ts';
import {
  commandNotExecutable,
  commandNotFound,
  directoryUnusable,
  findCommand,
  run,
  sandboxArguments,
  type FoundCommand,
} from '../../../process/index.ts';
import type { ServerReview } from '../../../app/index.ts';
import { printableLine } from '../../../shared/printable.ts';
import { secretMask } from '../../../shared/secrets.ts';
import { shellWord } from '../../../shared/shell-word.ts';
import { statOf } from '../../../shared/regular-file.ts';
import { redactCommand, type RedactedCommand } from '../../../config/index.ts';
import { failureData, type FailureData } from '../../kit/output.ts';
import type { UnmatchedSetting, ProbedServer } from './probe-servers.ts';
import type { ResolvedModel } from '../../../language/index.ts';
import type { InspectedServer, Presentation } from './inspect-servers.ts';

/** What is known about a server without a request and, with --start, the result of its start. */
export type ServerCheck = RedactedCommand &
  Presentation &
  CheckedBase &
  (ProgramCheck | RemoteCheck | BuiltinCheck);

interface CheckedBase {
  readonly name: string;
  readonly ok: boolean;
  readonly isolation: ServerDefinition['isolation'];
  readonly source: ServerDefinition['origin'];
  readonly problems: readonly ServerProblem[];
  /** What works but should be changed. */
  readonly cautions: readonly ServerProblem[];
  /** Only with --start. */
  readonly start?: StartReport;
}

interface ProgramCheck {
  readonly kind: 'stdio';
  /** The file that the command resolves to; null if there is none. */
  readonly program: string | null;
  readonly cwd: string;
  /** Names of the variables that it gets. */
  readonly env: readonly string[];
  readonly inheritEnv: StdioDefinition['inheritEnv'];
  /** What it may access from its sandbox. Absent if it has none. */
  readonly sandbox?: Omit<NonNullable<StdioDefinition['sandbox']>, 'bwrap'>;
}

interface RemoteCheck {
  readonly kind: 'remote';
  readonly transport: RemoteDefinition['transport'];
  /** Names of the headers that are sent to it. */
  readonly headers: readonly string[];
}

interface BuiltinCheck {
  readonly kind: 'builtin';
  /** The root of its project; null if there is none. */
  readonly root: string | null;
}

export interface ServerProblem {
  readonly message: string;
  readonly hint: string;
}

export interface StartReport {
  readonly ok: boolean;
  readonly ms: number;
  readonly serverInfo?: unknown;
  readonly protocolVersion?: string;
  readonly tools?: number;
  /** Settings for tools that the server does not have. */
  readonly unmatched?: readonly UnmatchedSetting[];
  readonly error?: FailureData;
}

interface CheckContext {
  readonly env: NodeJS.ProcessEnv;
  /** What is remembered about its tools. */
  readonly review: ServerReview;
  /** The name of this program. */
  readonly program: string;
}

export async function checkConfiguredServer(
  { server, presentation, command, probe }: Omit<InspectedServer, 'shownAs'>,
  { env, review, program }: CheckContext,
): Promise<ServerCheck> {
  const { problems: wrong, cautions: care, ...found } = await find(server, command, env);
  const cautions = [...care, ...trustCautions(server, review, program)];
  const problems = [...wrong, ...languageProblems(server, presentation)];
  const start = probe === undefined ? undefined : startReport(probe);
  const check = {
    name: server.name,
    ...presentation,
    ok: problems.length === 0 && start?.ok !== false && start?.unmatched === undefined,
    ...command,
    ...found,
    isolation: server.isolation,
    source: server.origin,
    problems,
    cautions,
    ...(start === undefined ? {} : { start }),
  };
  return server.secrets === undefined ? check : masked(check, secretMask(server.secrets));
}

/** The same with all its texts masked, because a path may contain a secret. */
function masked<T>(value: T, mask: (text: string) => string): T;
function masked(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((member: unknown): unknown => masked(member, mask));
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, masked(member, mask)]));
}

/** Tools that have changed since they were first used. */
function trustCautions(
  { name, pin }: ServerDefinition,
  { tools, overflow, problem }: ServerReview,
  program: string,
): ServerProblem[] {
  if (pin === 'off') return [];
  const hint = `See what changed: ${program} trust ${printableLine(shellWord(name))}`;
  if (problem !== undefined)
    return [{ message: `its tools cannot be compared with earlier ones: ${problem}`, hint }];
  const words = {
    changed: 'changed',
    restored: 'changed and changed back',
    new: 'new',
    suspicious: 'with hidden or misleading text',
  };
  const counted = Object.entries(words).flatMap(([state, word]) => {
    const names = tools.filter((tool) => tool.state === state).map((tool) => printableLine(tool.name));
    const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : '';
    return names.length === 0 ? [] : [`${word}: ${names.slice(0, MOST_NAMED).join(', ')}${more}`];
  });
  const withheld = pin === 'block' ? ' and are withheld' : '';
  return [
    ...(counted.length === 0
      ? []
      : [{ message: `tools have changed since their first use${withheld} (${counted.join('; ')})`, hint }]),
    ...(overflow ? [{ message: 'it lists more tools than can be stored', hint }] : []),
  ];
}

const MOST_NAMED = 5;

type CheckProblems = Pick<CheckedBase, 'problems' | 'cautions'>;

async function find(
  server: ServerDefinition,
  shown: RedactedCommand,
  env: NodeJS.ProcessEnv,
): Promise<(ProgramCheck | RemoteCheck | BuiltinCheck) & CheckProblems> {
  switch (server.kind) {
    case 'stdio':
      return checkProgram(server, shown, env);
    case 'remote':
      return checkRemote(server);
    case 'builtin': {
      // Loads everything that reads a Switchyard project.
      const { projectOf } = await import('./check-builtin.ts');
      return { kind: 'builtin', ...projectOf(server, env), cautions: [] };
    }
  }
}

/** The address and references were checked when the configuration was read. */
function checkRemote({ url, transport, headers }: RemoteDefinition): RemoteCheck & CheckProblems {
  const names = Object.keys(headers);
  const cautions =
    names.length > 0 && isInTheClear(url)
      ? [
          {
            message: 'its headers are sent unencrypted, so anyone on the network can read them',
            hint: 'Use an https:// address if the server has one.',
          },
        ]
      : [];
  return { kind: 'remote', transport, headers: names, problems: [], cautions };
}

/** Whether data sent to the address can be read on a network. */
function isInTheClear(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'http:' && !/^(?:127(?:\.\d+){3}|\[::1\]|(?:.+\.)?localhost\.?)$/i.test(hostname);
}

async function checkProgram(
  server: StdioDefinition,
  shown: RedactedCommand,
  ourEnv: NodeJS.ProcessEnv,
): Promise<ProgramCheck & CheckProblems> {
  const { cwd, inheritEnv, written, sandbox } = server;
  const found = findCommand(server.command, { cwd, env: composeEnv(server, ourEnv) });
  return {
    kind: 'stdio',
    program: found.kind === 'found' && !written.command.includes('${') ? found.file : null,
    cwd: written.cwd,
    env: envNames(server, ourEnv),
    inheritEnv,
    ...(sandbox === undefined ? {} : { sandbox: withoutProgram(sandbox) }),
    problems: [
      ...problemsOf(server, shown, found),
      ...(sandbox === undefined ? [] : await trySandbox(server, sandbox)),
    ],
    cautions: [],
  };
}

function withoutProgram({ write, read, hide, network }: NonNullable<StdioDefinition['sandbox']>) {
  return { write, read, hide, network };
}

/** Runs a program that does nothing in the sandbox, because not every system lets its users create one. */
async function trySandbox(
  { cwd }: StdioDefinition,
  sandbox: NonNullable<StdioDefinition['sandbox']>,
): Promise<ServerProblem[]> {
  const args = sandboxArguments({ command: 'true', args: [], cwd }, sandbox);
  const { code, stderr } = await run(sandbox.bwrap, args, { cwd: '/' });
  if (code === 0) return [];
  return [
    {
      message: `its sandbox cannot be created: ${printableLine(stderr.trim()).slice(0, 300) || `bwrap exited with code ${code}`}`,
      hint: 'Correct the paths in "sandbox". If namespaces are not permitted, allow them for bwrap, or remove "sandbox".',
    },
  ];
}

/** What prevents a program from being started, as far as can be determined without starting it. */
export function programProblems(server: StdioDefinition, ourEnv: NodeJS.ProcessEnv): ServerProblem[] {
  const found = findCommand(server.command, { cwd: server.cwd, env: composeEnv(server, ourEnv) });
  return problemsOf(server, redactCommand(server), found);
}

function problemsOf(
  { cwd, args, written }: StdioDefinition,
  shown: RedactedCommand,
  found: FoundCommand,
): ServerProblem[] {
  if (statOf(cwd)?.isDirectory() !== true) {
    return [directoryUnusable(written.cwd, 'does not exist')];
  }
  if (found.kind === 'missing') return [commandNotFound(shown.command)];
  if (found.kind === 'not-executable') return [commandNotExecutable(shown.command)];
  const script = scriptOf(found.file, args);
  if (script !== undefined && statOf(resolve(cwd, script)) === undefined) {
    return [
      {
        message: `the script ${shown.args[0] === script ? resolve(cwd, script) : (shown.args[0] ?? '')} does not exist`,
        hint: 'Build it, or correct the path in "args"; it is relative to the working directory.',
      },
    ];
  }
  return [];
}

/** The script that an interpreter runs, if that is obvious. */
function scriptOf(program: string, args: readonly string[]): string | undefined {
  const [first] = args;
  const interpreted = /^(?:node|bun|deno|python[\d.]*)(?:\.exe)?$/.test(basename(program));
  return interpreted && first !== undefined && /^[^-].*\.(?:[cm]?[jt]s|py)$/.test(first) ? first : undefined;
}

function startReport(probed: ProbedServer): StartReport {
  const { ms } = probed;
  if (probed.kind === 'failed') return { ok: false, ms, error: failureData(probed.error) };
  const { about, unmatched } = probed;
  const tools = probed.behind ?? probed.tools;
  return {
    ok: true,
    ms,
    tools: tools.length,
    ...(unmatched.length === 0 ? {} : { unmatched }),
    ...(about === undefined ? {} : { serverInfo: about.serverInfo, protocolVersion: about.protocolVersion }),
  };
}

/** What is wrong with a server's language model, as far as is known without a request. */
export function languageProblems(
  { language }: ServerDefinition,
  presentation: Presentation,
): readonly ServerProblem[] {
  const problems: ServerProblem[] = [];
  if (presentation.language && 'problem' in presentation.language) {
    const { message, hint } = presentation.language.problem;
    problems.push({ message, hint });
  }
  const file = language?.instructionsFile;
  if (file !== undefined && !isReadable(file)) {
    problems.push({
      message: `cannot read the instructions of its model, ${file}`,
      hint: 'Create that file, or correct "instructionsFile".',
    });
  }
  return problems;
}

/** Which model it is, and what it requires. */
export function modelLine(language: ResolvedModel): string {
  if ('problem' in language) return 'none';
  const { provider, model } = language;
  return provider === 'host'
    ? "the client's own: the client must support sampling with tools"
    : `${model} (${provider})`;
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
