import { resolve as resolvePath } from 'node:path';
import type { ServerCandidate, CandidateDefinition } from './candidate.ts';
import type { StdioDefinition } from './definition.ts';
import { readEnvFile } from './env-file.ts';
import type { ReferenceFiller } from './filler.ts';
import type { StdioServer } from './schema/config.ts';

/** How a server is started. */
export type ResolvedProgram = Pick<StdioDefinition, 'command' | 'args' | 'written' | 'cwd' | 'env'>;

/** A program as described by a file or a person. */
export type DescribedProgram = Extract<CandidateDefinition, { kind: 'stdio' }>['server'];

/** Command, arguments, directory and environment with references filled in; undefined if one of them could not be. */
export function fillInProgram(
  candidate: ServerCandidate,
  server: DescribedProgram,
  filler: ReferenceFiller,
): ResolvedProgram | undefined {
  const fill = (text: string, ...path: (string | number)[]): string => {
    if (!text.includes('${') && !text.includes('\0')) return text;
    const location = { file: candidate.file, path: [...candidate.path, ...path] };
    const filled = candidate.literal === true ? text : filler.fill(text, location);
    if (filled.includes('\0')) filler.fail(location, 'contains a NUL character');
    return filled;
  };

  const fillEnv = (given: StdioServer['env'], ...path: string[]): [string, string][] =>
    given === undefined
      ? []
      : Object.entries(given).map(([name, value]) => [name, fill(String(value), ...path, name)]);
  const fillArgs = (given: readonly string[] = [], ...path: string[]): string[] =>
    given.map((arg, index) => fill(arg, ...path, index));

  const inner = typeof server.command === 'string' ? { cmd: server.command } : server.command;
  const command =
    typeof server.command === 'string' ? fill(server.command, 'command') : fill(inner.cmd, 'command', 'cmd');
  const args = [...fillArgs(inner.args, 'command', 'args'), ...fillArgs(server.args, 'args')];
  // fromEntries defines members, so "__proto__" is an ordinary variable.
  const env = Object.fromEntries([
    ...variablesFrom(candidate, server, filler, fill),
    ...fillEnv(inner.env, 'command', 'env'),
    ...fillEnv(server.env, 'env'),
  ]);
  const cwd = 'cwd' in server && typeof server.cwd === 'string' ? fill(server.cwd, 'cwd') : '';
  if (filler.failed) return undefined;
  if (command.trim() === '') {
    filler.fail(candidate, `the command of "${candidate.name}" is empty`);
    return undefined;
  }
  const absolute =
    cwd === '' ? (candidate.startIn ?? candidate.directory) : resolvePath(candidate.directory, cwd);
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

/** The variables of the server's dotenv file, if it has one. */
function variablesFrom(
  candidate: ServerCandidate,
  server: DescribedProgram,
  filler: ReferenceFiller,
  fill: (text: string, ...path: string[]) => string,
): [string, string][] {
  const { envFile } = server as Partial<StdioServer>;
  if (envFile === undefined) return [];
  const filled = fill(envFile, 'envFile');
  if (filler.failed) return [];
  const path = resolvePath(candidate.directory, filled);
  const read = readEnvFile(path, filled === envFile ? path : envFile);
  if (read.kind === 'read') return Object.entries(read.env);
  filler.fail({ file: candidate.file, path: [...candidate.path, 'envFile'] }, read.why);
  return [];
}
