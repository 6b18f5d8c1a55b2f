import { Buffer } from 'node:buffer';
import { spawn, type ChildProcess } from 'node:child_process';
import { SwitchboardError } from '../shared/errors.ts';
import { printableLine } from '../shared/printable.ts';
import { dropInheritance } from './drop-inheritance.ts';
import { withSafePath } from './search-path.ts';
import { sendSignal } from './send-signal.ts';
import { spawnable } from './spawnable.ts';
import { loadWindows, windows } from './windows.ts';

export interface RunOptions {
  readonly cwd: string;
  /** The complete environment. Default: ours. */
  readonly env?: NodeJS.ProcessEnv;
  /** The timeout, in milliseconds. Default 30 000. */
  readonly timeout?: number;
  /** Maximum size of each output, in bytes. Default 8 MB. */
  readonly maxBytes?: number;
  /** Stops the command. */
  readonly signal?: AbortSignal | undefined;
  /** How long it may take to clean up when it is stopped, in milliseconds. Default 1000. */
  readonly grace?: number;
  /** The text for its stdin. Default: empty. */
  readonly input?: string;
}

/** How a command ended, and its output. */
export interface RunResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** How long to wait for more output after the exit if another process holds the pipes open, in milliseconds. */
const LAST_WORDS = 200;
/** The limit of that wait, in milliseconds: a daemon that was left behind may never stop writing. */
const LAST_WORDS_AT_MOST = 2000;

/**
 * Runs a short command (never through a shell) and collects its output. An exit code other than 0 is a result, not an
 * error. It has its own session, so it cannot prompt on our terminal, and all of it can be stopped.
 */
export async function run(command: string, args: readonly string[], options: RunOptions): Promise<RunResult> {
  const { cwd, env = process.env, timeout = 30_000, maxBytes = 8 * 1024 * 1024, signal, input } = options;
  const { grace = 1000 } = options;
  const shown = `"${printableLine(command)}"`;
  const gaveUp = (): boolean => signal?.aborted === true;
  if (gaveUp()) throw stopped(shown);
  const child = await start(command, args, { cwd, env, hasInput: input !== undefined });

  let refusal: SwitchboardError | undefined;
  let killing: NodeJS.Timeout | undefined;
  const refuse = (reason: SwitchboardError): void => {
    if (refusal !== undefined) return;
    refusal = reason;
    // Once the process has exited, its group id may be reused.
    if (child.exitCode !== null || child.signalCode !== null) return;
    endGroup(child, 'SIGTERM');
    killing = setTimeout(endGroup, grace, child, 'SIGKILL');
  };
  const abort = (): void => refuse(stopped(shown));
  signal?.addEventListener('abort', abort);
  // The signal may have been aborted while the command was starting.
  if (gaveUp()) abort();
  const clock = setTimeout(() => refuse(tooLong(shown, timeout)), timeout);

  const stdout = gather(child.stdout, maxBytes, () => refuse(tooMuch(shown, maxBytes)));
  const stderr = gather(child.stderr, maxBytes, () => refuse(tooMuch(shown, maxBytes)));
  // The command may exit without reading its input.
  child.stdin?.on('error', () => undefined).end(input);

  // Its descendants end with it. Done immediately, while the group id cannot be reused.
  child.once('exit', () => {
    clearTimeout(clock);
    clearTimeout(killing);
    signal?.removeEventListener('abort', abort);
    if (refusal !== undefined) endGroup(child, 'SIGKILL');
  });
  const end = await exitOf(child);
  if (refusal !== undefined) throw refusal;
  return { ...end, stdout: stdout(), stderr: stderr() };
}

interface Start {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly hasInput: boolean;
}

async function start(
  command: string,
  args: readonly string[],
  { cwd, env, hasInput }: Start,
): Promise<ChildProcess> {
  const attempt = { name: command, command, cwd, env: env as Record<string, string> };
  // On other systems, the command starts before this function returns, and runs while the caller does other work.
  if (process.platform === 'win32') await loadWindows();
  return new Promise<ChildProcess>((resolve, reject) => {
    dropInheritance();
    const { file, args: given, env: more, windowsVerbatimArguments } = spawnable({ ...attempt, args });
    const child = spawn(file, given, {
      cwd,
      env: withSafePath({ ...env, ...more }),
      detached: process.platform !== 'win32',
      stdio: [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe'],
      windowsHide: true,
      windowsVerbatimArguments,
    });
    child.once('error', reject);
    child.once('spawn', () => resolve(child));
  }).catch(async (cause: unknown) => {
    const { explainSpawnError } = await import('./spawn-error.ts');
    throw explainSpawnError(attempt, cause);
  });
}

/** Resolves after the exit and the last output. */
function exitOf(child: ChildProcess): Promise<Pick<RunResult, 'code' | 'signal'>> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => {
      const outputs = [child.stdout, child.stderr];
      const finish = (): void => {
        clearTimeout(silence);
        clearTimeout(enough);
        for (const output of outputs) output?.destroy();
        resolve({ code, signal });
      };
      // `close` alone would wait for every process that inherited the outputs, for example a daemon.
      const silence = setTimeout(finish, LAST_WORDS);
      const enough = setTimeout(finish, LAST_WORDS_AT_MOST);
      for (const output of outputs) output?.on('data', () => silence.refresh());
      child.once('close', finish);
    });
  });
}

/** Collects an output. Returns a function that returns its text. */
function gather(output: ChildProcess['stdout'], maxBytes: number, overflow: () => void): () => string {
  const chunks: Buffer[] = [];
  let length = 0;
  output?.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length <= maxBytes) chunks.push(chunk);
    else overflow();
  });
  return () => Buffer.concat(chunks).toString('utf8');
}

/** Signals the process and those of its descendants that did not leave its group. */
function endGroup(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (process.platform === 'win32') {
    windows()?.endTree(child);
  } else if (child.pid !== undefined) {
    sendSignal(-child.pid, signal);
  }
}

function stopped(shown: string): SwitchboardError {
  return new SwitchboardError('STOPPED', `${shown} was stopped.`);
}

function tooLong(shown: string, timeout: number): SwitchboardError {
  return new SwitchboardError('COMMAND_TIMEOUT', `${shown} timed out after ${timeout} ms and was stopped.`, {
    hint: 'Run it by hand to see what it waits for.',
  });
}

function tooMuch(shown: string, maxBytes: number): SwitchboardError {
  return new SwitchboardError(
    'COMMAND_OUTPUT',
    `${shown} was stopped: it printed more than ${maxBytes} bytes.`,
  );
}
