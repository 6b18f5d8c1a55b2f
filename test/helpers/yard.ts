import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, realpathSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { atTestEnd, type TestScope } from './cleanup.ts';
import { killAll, marker, processesWith, type FoundProcess, type Marker } from './processes.ts';
import { createProject, ROOT, type Project } from './temp-project.ts';

/** The built program. */
export const SWITCHYARD = join(ROOT, 'dist/switchyard.js');

export interface YardRun {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  /** What `--json` printed. */
  readonly json: any;
}

export interface YardRunOptions {
  /** Where it runs. Default the project. */
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** What `switchyard` is. Default that of the yard. */
  readonly program?: string;
}

/** A git repository with a `switchyard.toml`, its own state home, and everything that is started in it. */
export interface TestYard extends Project {
  readonly home: string;
  /** Carried by all processes that a command starts, directly or not. */
  readonly marker: Marker;
  readonly env: Readonly<Record<string, string>>;
  /** Runs `switchyard` to its end. */
  run(args: readonly string[], options?: YardRunOptions): Promise<YardRun>;
  /** The same with `--json`; throws when the exit code is not 0. */
  ask(...args: string[]): Promise<any>;
  /** Starts it and leaves it running. */
  start(args: readonly string[], options?: YardRunOptions): ChildProcess;
  git(...args: string[]): string;
  /** All running processes that a command of this yard has started, except its daemons. */
  living(): FoundProcess[];
  /** The proxy and the forwarder. They keep nothing of the environment they are started in, not even the marker. */
  daemons(): FoundProcess[];
}

export interface TestYardOptions {
  /** The text of `switchyard.toml`; default none is written. */
  readonly toml?: string;
  readonly files?: Readonly<Record<string, string | object>>;
  /** Whether it is a git repository. Default true. */
  readonly git?: boolean;
  readonly scope?: TestScope;
  /** What `switchyard` is. Default the built program where it is. */
  readonly program?: string;
}

/** At its end, everything that was started in it is killed, and the files are removed. */
export function createYard({
  toml,
  files = {},
  git = true,
  scope,
  program = SWITCHYARD,
}: TestYardOptions = {}): TestYard {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'switchyard-home-')));
  const mark = marker();
  const env = cleanEnvironment({
    ...mark.env,
    SWITCHYARD_HOME: join(home, 'state'),
    HOME: home,
    SWITCHBOARD_ALLOW_PROJECT: '1',
    GIT_AUTHOR_NAME: 'Test',
    GIT_AUTHOR_EMAIL: 'test@example.invalid',
    GIT_COMMITTER_NAME: 'Test',
    GIT_COMMITTER_EMAIL: 'test@example.invalid',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_SYSTEM: '/dev/null',
  });
  // Registered first, so that it happens last, when no process writes files any more.
  atTestEnd(() => rm(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }), scope);
  const project = createProject(toml === undefined ? files : { ...files, 'switchyard.toml': toml }, scope);
  atTestEnd(() => killAll(mark), scope);
  // Proxy and forwarder inherit only what they need, so they are identified by their home.
  atTestEnd(() => killAll({ value: `SWITCHYARD_HOME=${join(home, 'state')}`, env: {} }), scope);

  const start: TestYard['start'] = (args, options = {}) => {
    const { cwd = project.dir, env: more = {}, input } = options;
    const child = spawn(process.execPath, [options.program ?? program, ...args], {
      cwd,
      env: { ...env, ...more },
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    });
    if (input !== undefined) child.stdin?.end(input);
    return child;
  };
  const run: TestYard['run'] = (args, options) =>
    new Promise((resolve, reject) => {
      const child = start(args, options);
      let stdout = '';
      let stderr = '';
      child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
      child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
      child.once('error', reject);
      child.once('close', (code, signal) => {
        resolve({
          code,
          signal,
          stdout,
          stderr,
          get json() {
            return JSON.parse(stdout);
          },
        });
      });
    });
  const gitIn: TestYard['git'] = (...args) =>
    execFileSync('git', args, { cwd: project.dir, env, encoding: 'utf8' });
  if (git) {
    gitIn('init', '-q', '-b', 'main');
    gitIn('add', '-A');
    gitIn('commit', '-q', '--allow-empty', '-m', 'start');
  }
  return {
    ...project,
    home: join(home, 'state'),
    marker: mark,
    env,
    start,
    run,
    async ask(...args) {
      const ran = await run([...args, '--json']);
      if (ran.code !== 0) {
        const end = ran.signal ?? `exit code ${ran.code}`;
        throw new Error(`switchyard ${args.join(' ')}: ${end}: ${ran.stdout}${ran.stderr}`);
      }
      return ran.json;
    },
    git: gitIn,
    living: () => processesWith(mark),
    daemons: () =>
      processesWith({ value: `SWITCHYARD_HOME=${join(home, 'state')}`, env: {} }).filter(({ command }) =>
        /(proxy|forward) serve/.test(command),
      ),
  };
}

/** Our environment, without the variables of the test runner, and without colors. */
function cleanEnvironment(more: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    ([name, value]) =>
      value !== undefined && !/^(SWITCHYARD|SWITCHBOARD|VITEST|GIT_|npm_|NODE_ENV|PORT$|HOST$)/.test(name),
  );
  // npx puts the programs of this repository first on the PATH.
  const path = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((each) => !each.endsWith('node_modules/.bin'));
  const environment = Object.fromEntries(kept) as Record<string, string>;
  return { ...environment, PATH: path.join(delimiter), NO_COLOR: '1', ...more };
}
