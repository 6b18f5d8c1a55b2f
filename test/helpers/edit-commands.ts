import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { ownState } from './gateway.ts';
import { processesWith } from './processes.ts';
import { startClient, type RawClient } from './raw-client.ts';
import { runProgram, type Finished, type RunOptions } from './run-program.ts';
import { ROOT, serverPath, type Project } from './temp-project.ts';
import { until } from './until.ts';

export const NODE = process.execPath;
export const ECHO = ['--', NODE, serverPath('echo')];

type Env = Readonly<Record<string, string | undefined>>;

/** Only what a test sets counts. */
export function cleanEnv(project: Project, env: Env = {}): Env {
  return {
    SWITCHBOARD_LOG_LEVEL: undefined,
    MCP_PROXY_CONFIG_PATH: undefined,
    MCP_PROXY_LOG_LEVEL: undefined,
    MCP_PROXY_LOG_DIRECTORY_PATH: undefined,
    ...ownState(project),
    HOST: 'set, or a server would be skipped',
    ...env,
  };
}

/** Runs a program to its end; checks that nothing it started is left. */
export function runEditCommand(
  project: Project,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Finished> {
  return runProgram(project, args, { ...options, env: cleanEnv(project, options.env) });
}

/** A gateway that other programs can find. */
export async function startEditedGateway(
  project: Project,
  { program = 'index', env, args = [] }: RunOptions & { args?: readonly string[] } = {},
): Promise<RawClient> {
  const client = startClient({
    command: NODE,
    args: [join(ROOT, 'dist', `${program}.js`), ...args],
    cwd: project.dir,
    env: cleanEnv(project, env),
  });
  await client.initialize();
  await until(() => existsSync(project.path('.state/run', `${client.pid}.json`)), {
    what: 'the gateway to be seen',
  });
  return client;
}

export const toolNames = async (client: RawClient): Promise<string[]> =>
  (await client.listTools()).map((tool) => tool.name);

export const waitForToolsChanged = (client: RawClient, from: number) =>
  client.waitFor(({ method }) => method === 'notifications/tools/list_changed', { from });

export async function leave(...clients: readonly RawClient[]): Promise<void> {
  for (const client of clients) {
    expect((await client.close()).code).toBe(0);
    expect(processesWith(client.marker)).toEqual([]);
  }
}
