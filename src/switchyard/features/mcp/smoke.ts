import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { run, type RunResult } from '../../../process/index.ts';
import { messageOf, SwitchboardError } from '../../../shared/errors.ts';
import { statOf } from '../../../shared/regular-file.ts';
import { expandHome } from '../../records/paths.ts';
import { CONFIG_FILE } from '../../records/state/find-config.ts';
import { bindProject } from './project-binding.ts';

export interface SmokeOptions {
  /** The project, relative to `cwd`. */
  readonly project: string;
  /** A directory below the project to start from. Default: the project itself. */
  readonly nested?: string | undefined;
  readonly name: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** The command that starts this program. */
  readonly program: readonly string[];
  /** Reads the entry of a server from the text of a Codex file. */
  readonly entryIn: (text: string, name: string) => unknown;
}

export interface SmokeResult {
  readonly project: string;
  readonly cwd: string;
  readonly name: string;
  readonly home: string;
  readonly state_path: string;
  readonly alias: string;
  readonly config_alias: string;
  /** Whether the installed entry starts Node with the path of this program, instead of a command on the PATH. */
  readonly used_runtime: boolean;
}

/** Timeout of each step, in milliseconds. */
const TIMEOUT_MS = 30_000;

/**
 * Performs the steps that let an agent use a project once, with the real program, in a temporary state home and Codex
 * home: register, list, dry run, install, and start the installed entry from another directory.
 */
export async function smokeTest(options: SmokeOptions): Promise<SmokeResult> {
  const { name, env, program } = options;
  const project = resolve(options.cwd, expandHome(options.project));
  const cwd = options.nested === undefined ? project : join(project, options.nested);
  if (statOf(cwd)?.isDirectory() !== true)
    throw failed(`The cwd of the smoke test is not a directory: ${cwd}.`);
  const { root, found } = bindProject({ directory: cwd }, env);
  if (!found) throw failed(`Could not find ${CONFIG_FILE} from ${cwd}; run \`switchyard init\` there first.`);

  const temporary = realpathSync(mkdtempSync(join(tmpdir(), 'switchyard-smoke-')));
  try {
    const home = join(temporary, 'home');
    const codex = join(temporary, 'codex');
    const own = { ...env, SWITCHYARD_HOME: home, CODEX_HOME: codex };
    const call = async (where: string, ...args: string[]): Promise<Answer> => {
      const [command = process.execPath, ...before] = program;
      const ran = await run(command, [...before, ...args, '--json'], {
        cwd: where,
        env: own,
        timeout: TIMEOUT_MS,
      });
      return answerOf(ran, args);
    };
    const steps: Steps = { root, home, temporary, call };
    const configAlias = `${name}-config`;
    await tryConfig(steps, cwd, configAlias);
    const statePath = await tryProjects(steps, configAlias);
    await tryDryRun(steps, cwd, name);
    await tryInstall(steps, cwd, name);
    const text = readFileSync(join(codex, 'config.toml'), 'utf8');
    expect(text.includes(`"--project", "${name}"`), 'the installed entry does not name the project');
    refusePaths(text, root);
    const entry = options.entryIn(text, name) as InstalledEntry;
    await tryServer(entry, temporary, own);
    return {
      ...{ project: root, cwd, name, home, state_path: statePath, alias: name, config_alias: configAlias },
      used_runtime: /^node(\.exe)?$/.test(basename(entry.command)),
    };
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

interface Answer {
  readonly ok?: boolean;
  readonly error?: unknown;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly config_text?: unknown;
  readonly home?: string;
  readonly state_path?: string;
  readonly projects?: readonly Registered[];
  readonly dry_run?: boolean;
  readonly registered?: boolean;
}

interface Registered {
  readonly name: string;
  readonly root: string;
  readonly config: string | null;
  readonly status: string;
}

interface Steps {
  readonly root: string;
  readonly home: string;
  readonly temporary: string;
  readonly call: (cwd: string, ...args: string[]) => Promise<Answer>;
}

interface InstalledEntry {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

async function tryConfig({ root, home, call }: Steps, cwd: string, alias: string): Promise<void> {
  const config = await call(cwd, 'mcp', 'config', '--name', alias);
  expect(config.args?.slice(-2).join(' ') === `--project ${alias}`, 'mcp config does not name the project');
  expect(config.env?.SWITCHYARD_HOME === home, 'mcp config does not carry the state home');
  refusePaths(String(config.config_text), root);
}

async function tryProjects({ root, home, temporary, call }: Steps, alias: string): Promise<string> {
  const listed = await call(temporary, 'mcp', 'projects');
  const statePath = join(home, 'state.json');
  expect(listed.home === home && listed.state_path === statePath, 'mcp projects uses another home');
  expectAlias(listed, alias, root);
  return statePath;
}

async function tryDryRun({ root, temporary, call }: Steps, cwd: string, name: string): Promise<void> {
  const dry = await call(cwd, 'mcp', 'install', '--dry-run', '--name', name);
  expect(dry.dry_run === true && dry.registered === false, 'a dry run has registered something');
  refusePaths(String(dry.config_text), root);
  const listed = await call(temporary, 'mcp', 'projects');
  expect(
    listed.projects?.every((each) => each.name !== name) === true,
    'a dry run has registered the project',
  );
}

async function tryInstall({ root, temporary, call }: Steps, cwd: string, name: string): Promise<void> {
  const installed = await call(cwd, 'mcp', 'install', '--name', name);
  expect(installed.registered === true, 'mcp install has not registered the project');
  expectAlias(await call(temporary, 'mcp', 'projects'), name, root);
}

/** Starts exactly the entry in the Codex file, from another directory, and reads the brief through it. */
async function tryServer(entry: InstalledEntry, cwd: string, env: NodeJS.ProcessEnv): Promise<void> {
  const params = {
    protocolVersion: '2024-11-05',
    capabilities: {},
    clientInfo: { name: 'smoke', version: '1' },
  };
  const messages = [
    { id: 1, method: 'initialize', params },
    { method: 'notifications/initialized' },
    { id: 2, method: 'resources/read', params: { uri: 'switchyard://project/brief' } },
  ];
  const input = messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join('');
  const { stdout, stderr } = await run(entry.command, entry.args, {
    cwd,
    env: { ...env, ...entry.env },
    input,
    timeout: TIMEOUT_MS,
  }).catch((error: unknown) => {
    throw new SwitchboardError(
      'SMOKE_FAILED',
      `A client cannot start the installed entry: ${messageOf(error)}`,
      {
        hint: 'Put `switchyard` on the PATH: npm install -g mcp-switchboard',
        cause: error,
      },
    );
  });
  expect(
    stdout.includes('switchyard://project/brief') && stdout.includes('configured_services'),
    `the installed server did not return the brief: ${(stdout + stderr).slice(0, 500)}`,
  );
}

function answerOf({ code, stdout, stderr }: RunResult, args: readonly string[]): Answer {
  const what = `switchyard ${args.join(' ')}`;
  let answer: Answer;
  try {
    answer = JSON.parse(stdout) as Answer;
  } catch {
    throw failed(`${what} printed no JSON: ${(stdout + stderr).slice(0, 500)}`);
  }
  if (code !== 0 || answer.ok === false)
    throw failed(`${what}: ${typeof answer.error === 'string' ? answer.error : `exit code ${code}`}`);
  return answer;
}

function expectAlias(listed: Answer, alias: string, root: string): void {
  const found = listed.projects?.find((each) => each.name === alias);
  expect(
    found?.root === root && found.config === join(root, CONFIG_FILE) && found.status === 'ok',
    `mcp projects does not show ${alias} at ${root}`,
  );
}

/** An entry that contains a project path would work only there. */
function refusePaths(text: string, root: string): void {
  for (const word of ['cwd =', '--cwd', root])
    expect(!text.includes(word), `the entry contains ${JSON.stringify(word)}`);
}

function expect(holds: boolean, otherwise: string): void {
  if (!holds) throw failed(otherwise);
}

function failed(message: string): SwitchboardError {
  return new SwitchboardError('SMOKE_FAILED', message);
}
