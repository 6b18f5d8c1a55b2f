import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parse } from 'smol-toml';
import { onTestFinished } from 'vitest';
import { HOSTS } from '../../src/hosts/index.ts';
import { killAll, marker } from './processes.ts';
import { startClient, textOf, type Json } from './raw-client.ts';
import { createProject, nodeServer, ROOT, type Project } from './temp-project.ts';

/** The build to test. */
const DIST = process.env.SWITCHBOARD_TEST_DIST ?? join(ROOT, 'dist');

/**
 * A home directory for one test, with a project in it and the files of hosts. All hosts are on the PATH, but have never
 * been started.
 */
export interface HostHome {
  readonly home: Project;
  /** The directory in which commands run, with Switchboard's configuration. */
  readonly project: string;
  /** The environment in which a host would start a program here: small, and without a PATH. */
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
  run(args: readonly string[], options?: RunOptions): Promise<Finished>;
  /** Runs it in a terminal and types these lines. */
  type(args: readonly string[], lines: readonly string[]): Promise<Finished>;
  /** Runs it in a terminal, and presses keys when the text before them has appeared. */
  press(
    args: readonly string[],
    steps: readonly (readonly [text: string, keys: string])[],
  ): Promise<Finished>;
  /** Starts it and kills it after that many milliseconds. */
  kill(args: readonly string[], afterMs: number): Promise<void>;
  read(file: string): string;
  /** All files in the home, by path, without what the program remembers. */
  files(): Record<string, string>;
  backups(): string[];
}

interface RunOptions {
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Default: the project. */
  readonly cwd?: string;
  /** Default `index`, which is `switchboard`. */
  readonly program?: 'index' | 'mcp-proxy-server';
}

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly json: Json;
}

/** Runs another program in a terminal; without it, tests that press keys cannot run. */
const SCRIPT = '/usr/bin/script';
export const CAN_PRESS = String(spawnSync(SCRIPT, ['--version']).stdout).includes('util-linux');

export const FILES = {
  'claude-code': '.claude.json',
  'claude-desktop': '.config/Claude/claude_desktop_config.json',
  cursor: '.cursor/mcp.json',
  vscode: '.config/Code/User/mcp.json',
  windsurf: '.codeium/windsurf/mcp_config.json',
  gemini: '.gemini/settings.json',
  codex: '.codex/config.toml',
  zed: '.config/zed/settings.json',
  cline: '.cline/data/settings/cline_mcp_settings.json',
  copilot: '.copilot/mcp-config.json',
  opencode: '.config/opencode/opencode.jsonc',
} as const;

export function createHostHome(files: Readonly<Record<string, string | object>> = {}): HostHome {
  const home = createProject(files);
  const project = home.path('work');
  if (!existsSync(project)) home.write('work/.keep', '');
  const unset = [
    'XDG_CONFIG_HOME',
    'CLAUDE_CONFIG_DIR',
    'CODEX_HOME',
    'GEMINI_CLI_HOME',
    'COPILOT_HOME',
    'CLINE_DIR',
    'CLINE_DATA_DIR',
    'CLINE_MCP_SETTINGS_PATH',
    'APPDATA',
    'XDG_STATE_HOME',
  ];
  for (const { program } of HOSTS) chmodSync(home.write(`.state/programs/${program}`, ''), 0o755);
  const own = {
    ...Object.fromEntries(unset.map((name) => [name, undefined])),
    HOME: home.dir,
    PATH: `${home.path('.state/programs')}:${process.env.PATH ?? ''}`,
    SWITCHBOARD_STATE_DIR: home.path('.state'),
    SWITCHBOARD_LOG_LEVEL: undefined,
    NO_COLOR: '1',
  };
  const start = (
    command: string,
    args: readonly string[],
    { env = {}, cwd = project }: RunOptions,
    stdin: 'pipe' | 'ignore',
  ) => {
    const mark = marker();
    onTestFinished(() => killAll(mark));
    return spawn(command, args, {
      cwd,
      env: { ...process.env, ...own, ...env, ...mark.env },
      stdio: [stdin, 'pipe', 'pipe'],
    });
  };
  const script = join(DIST, 'index.js');
  const walk = (folder: string): string[] =>
    readdirSync(folder).flatMap((name) => {
      const path = join(folder, name);
      return statSync(path).isDirectory() ? walk(path) : [path];
    });
  const all = (): string[] => walk(home.dir).map((path) => relative(home.dir, path));
  const isBackup = (file: string): boolean => file.startsWith('.state/backups/') && !file.endsWith('/origin');
  return {
    home,
    project,
    hostEnv: { ...own, PATH: '', HOME: home.dir },
    async run(args, options = {}) {
      const program = join(DIST, `${options.program ?? 'index'}.js`);
      return finished(start(process.execPath, [program, ...args], options, 'ignore'));
    },
    async type(args, lines) {
      const line = [process.execPath, script, ...args].map((word) => `'${word}'`).join(' ');
      const child = start('script', ['-qec', line, '/dev/null'], {}, 'pipe');
      for (const each of lines) child.stdin?.write(`${each}\n`);
      return finished(child);
    },
    async press(args, steps) {
      const line = [process.execPath, script, ...args].map((word) => `'${word}'`).join(' ');
      const child = start(SCRIPT, ['-qec', `stty cols 120 rows 50; ${line}`, '/dev/null'], {}, 'pipe');
      const waiting = [...steps];
      let seen = '';
      child.stdout?.on('data', (text: Buffer) => {
        seen += String(text);
        const [next] = waiting;
        if (next === undefined || !seen.includes(next[0])) return;
        waiting.shift();
        seen = '';
        child.stdin?.write(next[1]);
      });
      const result = await finished(child);
      if (waiting.length > 0) throw new Error(`never appeared: ${waiting[0]![0]}\n${result.stdout}`);
      return result;
    },
    async kill(args, afterMs) {
      const child = start(process.execPath, [script, ...args], {}, 'ignore');
      const timer = setTimeout(() => child.kill('SIGKILL'), afterMs);
      await new Promise((resolve) => child.on('close', resolve));
      clearTimeout(timer);
    },
    read: (file) => readFileSync(home.path(file), 'utf8'),
    files: () =>
      Object.fromEntries(
        all()
          // A copy of the schema counts as part of the program.
          .filter((file) => !/^\.state|switchboard\.config\.schema\.json$/.test(file))
          .sort()
          .map((file) => [file, readFileSync(home.path(file), 'utf8')]),
      ),
    backups: () => all().filter(isBackup),
  };
}

async function finished(child: ReturnType<typeof spawn>): Promise<Finished> {
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return {
    code,
    stdout,
    stderr,
    get json() {
      return JSON.parse(stdout);
    },
  };
}

type Client = ReturnType<typeof startClient>;

/** The user file. */
export const USER_CONFIG = '.config/switchboard/switchboard.config.json';
export const ECHO_SERVER = nodeServer('echo');
export const ECHO_CONFIG = { mcpServers: { echo: ECHO_SERVER } };

/** The servers of a host, as it would read them. */
export function serversOf(at: HostHome, host: keyof typeof FILES): Json {
  const text = at.read(FILES[host]);
  if (host === 'codex') return JSON.parse(JSON.stringify(parse(text).mcp_servers ?? {}));
  // We wrote all of them, as plain JSON except for comments.
  const servers = JSON.parse(text.replace(/^\s*\/\/.*$/gm, ''))[KEYS[host] ?? 'mcpServers'];
  if (host !== 'opencode') return servers;
  const plain = ({ command: [command, ...args], environment: env, ...rest }: Json) => ({
    ...{ command, args, env },
    ...rest,
  });
  return Object.fromEntries(Object.entries(servers).map(([name, entry]) => [name, plain(entry)]));
}

const KEYS: Readonly<Record<string, string>> = { vscode: 'servers', zed: 'context_servers', opencode: 'mcp' };

/** Starts an entry as its host would, in the project if there is one. */
export async function startAsHost(
  at: HostHome,
  { command, args }: Json,
  cwd = '/',
  env = {},
): Promise<Client> {
  // The project belongs to the user.
  const allowed = { SWITCHBOARD_ALLOW_PROJECT: '1' };
  const client = startClient({ command, args, cwd, env: { ...at.hostEnv, ...allowed, ...env } });
  await client.initialize();
  return client;
}

/** Calls a tool of the server `echo` through an entry. */
export async function useAsHost(at: HostHome, entry: Json, cwd?: string, env?: object): Promise<string> {
  const client = await startAsHost(at, entry, cwd, env);
  const answer = await client.call('echo_suite', {
    action: 'call',
    subtool: 'echo',
    args: { text: 'hello' },
  });
  await client.close();
  return textOf(answer);
}
