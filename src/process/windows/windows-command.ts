import { readFileSync } from 'node:fs';
import { extname, isAbsolute, win32 } from 'node:path';
import { SwitchboardError } from '../../shared/errors.ts';
import { printableLine } from '../../shared/printable.ts';
import { commandNotExecutable, type CommandProblem } from '../command-problems.ts';
import { findCommand } from '../find-command.ts';
import type { SpawnOptions, Spawnable } from '../spawnable.ts';
import { explainSpawnError } from '../spawn-error.ts';
import { systemProgram } from '../system-program.ts';
import { batchArguments, longestCommandLine } from './batch-line.ts';
import { readCmdShim } from './cmd-shim.ts';

/**
 * How Windows starts a command. The command is looked up with the PATH and PATHEXT of the program, never in the working
 * directory. A `.cmd` file that npm, pnpm or yarn wrote is replaced by what it starts: a program, or Node with a
 * script. Other `.cmd` and `.bat` files need `cmd.exe`, with arguments quoted so that it interprets nothing in them.
 */
export function windowsCommand(wanted: SpawnOptions): Spawnable {
  const { args, cwd, env } = wanted;
  const found = findCommand(wanted.command, { cwd, env, platform: 'win32' });
  const shown = printableLine(wanted.shown?.command ?? wanted.command);
  if (found.kind === 'missing') throw explained(wanted, 'ENOENT');
  if (found.kind === 'not-executable') {
    throw refused(wanted, 'COMMAND_NOT_EXECUTABLE', commandNotExecutable(shown, 'win32'));
  }
  if (args.some((arg) => arg.includes('\0'))) throw explained(wanted, 'ERR_INVALID_ARG_VALUE');
  const length = args.reduce((sum, arg) => sum + arg.length + 1, found.file.length);
  if (length > LONGEST_START) throw explained(wanted, 'E2BIG');
  switch (extname(found.file).toLowerCase()) {
    case '.cmd':
    case '.bat':
      return withoutShell(found.file, wanted) ?? throughCmd(found.file, wanted, shown);
    case '.ps1':
      return direct(systemProgram('WindowsPowerShell\\v1.0\\powershell.exe'), [
        ...['-NoProfile', '-ExecutionPolicy', 'Bypass', '-File', found.file],
        ...args,
      ]);
    default:
      return direct(found.file, args);
  }
}

/** The longest command line of any program, in characters. */
const LONGEST_START = 32_766;

function direct(file: string, args: readonly string[], env: Spawnable['env'] = {}): Spawnable {
  return { file, args, windowsVerbatimArguments: false, env };
}

/** What such a file would do: run a program, or a script with the Node next to it or else with the Node of the PATH. */
function withoutShell(file: string, { args, cwd, env }: SpawnOptions): Spawnable | undefined {
  const shim = readCmdShim(file, textOf(file), env);
  if (shim === undefined) return undefined;
  const program = shim.program ?? nodeOnPath(cwd, env);
  return program === undefined ? undefined : direct(program, [...shim.args, ...args], shim.env);
}

function nodeOnPath(cwd: string, env: SpawnOptions['env']): string | undefined {
  const found = findCommand('node', { cwd, env, platform: 'win32' });
  return found.kind === 'found' && /\.exe$/i.test(found.file) ? found.file : undefined;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // A file that cannot be read may still be executable.
    return '';
  }
}

function throughCmd(file: string, wanted: SpawnOptions, shown: string): Spawnable {
  const { args, cwd } = wanted;
  if (args.some((arg) => /[\r\n]/.test(arg))) {
    throw refused(wanted, 'COMMAND_NOT_RUNNABLE', {
      message: `an argument has a line break, which cmd.exe cannot pass to the batch file "${shown}"`,
      hint: 'Set "command" to the program that the batch file runs, or pass the text in a file or in "env".',
    });
  }
  // cmd.exe would only print a message and run the file in the directory of Windows.
  if (/^[\\/]{2}/.test(cwd)) {
    throw refused(wanted, 'CWD_NOT_USABLE', {
      message: `the batch file "${shown}" cannot run in a network directory`,
      hint: 'Map the directory to a drive letter, or set "command" to the program that the batch file runs.',
    });
  }
  const line = batchArguments(shortened(file), args);
  if (line.length > longestCommandLine) throw explained(wanted, 'E2BIG');
  return {
    file: systemProgram('cmd.exe'),
    args: [line],
    windowsVerbatimArguments: true,
    env: {},
  };
}

/** Removes the prefix for long paths, which cmd.exe does not know. */
function shortened(file: string): string {
  const drive = /^\\\\\?\\([a-z]:\\.*)$/i.exec(file)?.[1];
  return drive !== undefined && drive.length < LONGEST_PATH && isAbsolute(drive)
    ? win32.normalize(drive)
    : file;
}

const LONGEST_PATH = 260;

function explained(wanted: SpawnOptions, code: string): SwitchboardError {
  return explainSpawnError(wanted, Object.assign(new Error(code), { code }));
}

function refused(
  { name }: SpawnOptions,
  code: 'COMMAND_NOT_EXECUTABLE' | 'COMMAND_NOT_RUNNABLE' | 'CWD_NOT_USABLE',
  { message, hint }: CommandProblem,
): SwitchboardError {
  return new SwitchboardError(code, `"${printableLine(name)}" could not be started: ${message}.`, { hint });
}
