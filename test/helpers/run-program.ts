import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { killAll, marker, processesWith } from './processes.ts';
import type { Json } from './raw-client.ts';
import { ROOT, type Project } from './temp-project.ts';

export interface RunOptions {
  /** Default `index`, which is switchboard. */
  readonly program?: 'index' | 'mcp-proxy-server' | 'mcpmux' | 'switchyard';
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Default that of the project. */
  readonly cwd?: string;
}

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly json: Json;
}

/** The environment of a program under test, without the settings of the user who runs the tests. */
export function programEnv(project: Project): Record<string, string | undefined> {
  return {
    ...process.env,
    SWITCHBOARD_LOG_LEVEL: undefined,
    MCP_PROXY_CONFIG_PATH: undefined,
    SWITCHBOARD_STATE_DIR: project.path('.state'),
    SWITCHBOARD_ALLOW_PROJECT: '1',
    XDG_CONFIG_HOME: project.path('.user'),
  };
}

/** Runs a built program to its end; checks that nothing it started is left. */
export async function runProgram(
  project: Project,
  args: readonly string[],
  { program = 'index', env, cwd = project.dir }: RunOptions = {},
): Promise<Finished> {
  const mark = marker();
  onTestFinished(() => killAll(mark));
  const child = spawn(process.execPath, [join(ROOT, 'dist', `${program}.js`), ...args], {
    cwd,
    env: { ...programEnv(project), ...env, ...mark.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
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
