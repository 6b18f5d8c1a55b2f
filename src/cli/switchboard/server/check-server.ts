import { statSync, accessSync, constants } from 'node:fs';
import { basename, resolve } from 'node:path';
import {
  composeEnv,
  envNames,
  type RemoteDefinition,
  type ServerDefinition,
  type StdioDefinition,
} from '../../../config/index.ts';
import { redactCommand, type RedactedCommand } from './redact-command.ts';
import { failureData, type FailureData } from '../../kit/output.ts';
import { findCommand } from '../../common/find-command.ts';
import type { UnmatchedSetting, ProbedServer } from './probe-servers.ts';
import type { ResolvedModel } from '../../../language/index.ts';
import type { InspectedServer, Presentation } from './inspect-servers.ts';

/** What is known about a server without a request, and with --start the result of its start. */
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
  /** What works, and should not be left like this. */
  readonly cautions: readonly ServerProblem[];
  /** With --start only. */
  readonly start?: StartReport;
}

interface ProgramCheck {
  readonly kind: 'stdio';
  /** The file that the command resolves to; null if there is none. */
  readonly program: string | null;
  readonly cwd: string;
  /** Names of the variables it gets. */
  readonly env: readonly string[];
  readonly inheritEnv: StdioDefinition['inheritEnv'];
}

interface RemoteCheck {
  readonly kind: 'remote';
  readonly transport: RemoteDefinition['transport'];
  /** Names of the headers it gets. */
  readonly headers: readonly string[];
}

interface BuiltinCheck {
  readonly kind: 'builtin';
  /** The root of the project it is for; null when there is none. */
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
  /** What the configuration says about tools that it does not have. */
  readonly unmatched?: readonly UnmatchedSetting[];
  readonly error?: FailureData;
}

export async function checkConfiguredServer(
  { server, presentation, command, probe }: Omit<InspectedServer, 'shownAs'>,
  env: NodeJS.ProcessEnv,
): Promise<ServerCheck> {
  const { problems: wrong, cautions, ...found } = await find(server, command, env);
  const problems = [...wrong, ...languageProblems(server, presentation)];
  const start = probe === undefined ? undefined : startReport(probe);
  return {
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
}

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
      // It needs all that reads a project of Switchyard.
      const { projectOf } = await import('./check-builtin.ts');
      return { kind: 'builtin', ...projectOf(server, env), cautions: [] };
    }
  }
}

/** That its address is one and that all references are set was seen when it was read. */
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

/** Whether what is sent there can be read on a network. */
function isInTheClear(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'http:' && !/^(?:127(?:\.\d+){3}|\[::1\]|(?:.+\.)?localhost\.?)$/i.test(hostname);
}

function checkProgram(
  server: StdioDefinition,
  shown: RedactedCommand,
  ourEnv: NodeJS.ProcessEnv,
): ProgramCheck & CheckProblems {
  const { cwd, inheritEnv, written } = server;
  const found = findCommand(server.command, { cwd, env: composeEnv(server, ourEnv) });
  return {
    kind: 'stdio',
    program: found.kind === 'found' && !written.command.includes('${') ? found.file : null,
    cwd: written.cwd,
    env: envNames(server, ourEnv),
    inheritEnv,
    problems: problemsOf(server, shown, found),
    cautions: [],
  };
}

/** What keeps a program from being started, as far as that can be seen without doing it. */
export function programProblems(server: StdioDefinition, ourEnv: NodeJS.ProcessEnv): ServerProblem[] {
  const found = findCommand(server.command, { cwd: server.cwd, env: composeEnv(server, ourEnv) });
  return problemsOf(server, redactCommand(server), found);
}

function problemsOf(
  { cwd, args, command, written }: StdioDefinition,
  shown: RedactedCommand,
  found: ReturnType<typeof findCommand>,
): ServerProblem[] {
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true) {
    return [
      { message: `its working directory ${written.cwd} does not exist`, hint: 'Create it or correct "cwd".' },
    ];
  }
  if (found.kind === 'missing') {
    const spaced = /\s/.test(command) ? ' Put arguments in "args".' : '';
    const message = `command not found on its PATH: ${JSON.stringify(shown.command)}`;
    return [{ message, hint: `Install it, or write its full path as "command".${spaced}` }];
  }
  if (found.kind === 'not-executable') {
    return [
      {
        message: `permission denied: ${shown.command} is not executable`,
        hint: 'Make it executable (chmod +x), or name the program that runs it as "command".',
      },
    ];
  }
  const script = scriptOf(found.file, args);
  if (script !== undefined && statSync(resolve(cwd, script), { throwIfNoEntry: false }) === undefined) {
    return [
      {
        message: `the script ${shown.args[0] === script ? resolve(cwd, script) : (shown.args[0] ?? '')} does not exist`,
        hint: 'Build it, or correct the path in "args"; it is relative to the working directory.',
      },
    ];
  }
  return [];
}

/** The script an interpreter runs, if that is obvious. */
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

/** What is wrong with the language model of a server, as far as it is known without a request. */
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

/** Which model that is, and what it needs. */
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
