import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { killAll, marker, processesWith } from './processes.ts';
import type { Json } from './raw-client.ts';
import { createProject, nodeServer, ROOT, type Project } from './temp-project.ts';

export const PROGRAM = join(ROOT, 'dist/index.js');

interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** Runs while the program runs, and can send it signals. */
  readonly meanwhile?: (kill: (signal: NodeJS.Signals) => void) => Promise<void>;
}

interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly json: Json;
}

/** Next to the project, where no gateway of another test writes. */
export const stateOf = (project: Project) => project.path('.state');

/** Runs the program to its end and checks that nothing it started is left. */
export async function runCli(
  project: Project,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Finished> {
  const mark = marker();
  const env = {
    ...process.env,
    SWITCHBOARD_LOG_LEVEL: '',
    SWITCHBOARD_STATE_DIR: stateOf(project),
    ...mark.env,
    ...options.env,
  };
  const child = spawn(process.execPath, [PROGRAM, ...args], { cwd: project.dir, env });
  onTestFinished(() => killAll(mark));
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin.on('error', () => undefined).end(options.input ?? '');
  const closed = new Promise<number | null>((resolve) => child.on('close', resolve));
  await options.meanwhile?.((signal) => child.kill(signal));
  const code = await closed;
  // Checked immediately: the program itself waits until everything it started has ended.
  expect(processesWith(mark)).toEqual([]);
  return {
    code,
    stdout,
    stderr,
    get json() {
      return JSON.parse(stdout);
    },
  };
}

export function echoProject(more: Readonly<Record<string, object>> = {}): Project {
  return createProject({ 'switchboard.config.json': { mcpServers: { echo: nodeServer('echo'), ...more } } });
}

/** A project with every exposure, and a compound tool. */
export function mixedProject(): Project {
  return createProject({
    'switchboard.config.json': {
      mcpServers: {
        suite: {
          ...nodeServer('echo'),
          suiteName: 'my_suite',
          tools: { add: { name: 'plus', description: 'One more than b.', presets: { a: 1 } } },
        },
        flat: {
          ...nodeServer('echo'),
          exposure: 'flat',
          hiddenTools: ['big', 'biig'],
          tools: { echo: { name: 'say' } },
        },
        hidden: { ...nodeServer('echo'), exposure: 'hidden' },
        mute: { ...nodeServer('echo'), exposure: 'flat', offer: ['resources', 'prompts'] },
      },
      tools: {
        both: {
          description: 'Does both.',
          subtools: {
            hidden: { tools: [{ name: 'echo' }] },
            flat: { tools: [{ name: 'add' }, { name: 'slow_eco' }] },
          },
        },
      },
    },
  });
}
export const GONE = { command: 'no-such-command-here' };
export const CRASH = nodeServer('crash', '--at-start', '--stderr-lines=8');
