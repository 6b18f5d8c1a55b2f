import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { atTestEnd } from './cleanup.ts';
import type { TestScope } from './cleanup.ts';
import { ownState } from './gateway.ts';
import {
  killAll,
  marker,
  processesWith,
  waitUntilGone,
  type FoundProcess,
  type Marker,
} from './processes.ts';
import { createProject, ROOT, type Project, type ServerCommand } from './temp-project.ts';
import { until } from './until.ts';

export interface ProgramOptions {
  /** Default: index, which is `switchboard`. */
  readonly program?: 'index' | 'mcp-proxy-server' | 'mcpmux';
  readonly args?: readonly string[];
  /** Merged over our own environment; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The context of a concurrent test. */
  readonly scope?: TestScope;
}

export interface HttpGatewayOptions extends ProgramOptions {
  /** Further keys of the configuration; `http` gets the tests' token unless it has one. */
  readonly config?: object;
  readonly http?: object;
}

export interface ProgramExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The JSON that the program prints when it listens. */
export interface Announcement {
  readonly url: string;
  readonly sse: string;
  readonly health: string;
  readonly pid: number;
  readonly token: {
    readonly from: 'config' | 'environment' | 'file';
    readonly file: string | null;
    readonly value?: string;
  };
  readonly entries: readonly { readonly host: string; readonly where: string; readonly text: string }[];
}

/** The token that gateways in tests accept. */
export const TOKEN = 'token-of-the-tests-0123456789';

/** One of the built programs in a folder, and its output so far. */
export class RunningProgram {
  readonly marker: Marker = marker();
  readonly exited: Promise<ProgramExit>;
  stdout = '';
  stderr = '';
  readonly #child: ChildProcess;
  #exit: ProgramExit | undefined;

  constructor(project: Project, { program = 'index', args = [], env = {}, scope }: ProgramOptions) {
    const child = spawn(process.execPath, [join(ROOT, 'dist', `${program}.js`), ...args], {
      cwd: project.dir,
      // The settings of this machine's user must not affect the test.
      env: { ...process.env, ...UNSET, ...ownState(project), ...env, ...this.marker.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.#child = child;
    this.exited = once(child, 'close').then(([code, signal]) => {
      this.#exit = { code: code as number | null, signal: signal as NodeJS.Signals | null };
      return this.#exit;
    });
    atTestEnd(() => this.dispose(), scope);
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Its children and their descendants. */
  children(): FoundProcess[] {
    return processesWith(this.marker).filter(({ pid }) => pid !== this.pid);
  }

  /** Waits until it has printed the whole announcement. */
  async announcement(): Promise<Announcement> {
    return until(
      () => {
        if (this.#exit !== undefined) throw new Error(`It ended (${this.#exit.code}): ${this.stderr}`);
        try {
          return JSON.parse(this.stdout) as Announcement;
        } catch {
          return undefined;
        }
      },
      { what: 'the announcement', deadline: 30_000, seen: () => `${this.stdout}\n${this.stderr}` },
    );
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Sends SIGTERM and waits until everything has ended. */
  async stop(): Promise<ProgramExit> {
    if (this.#exit === undefined) this.signal('SIGTERM');
    const exit = await this.exited;
    await waitUntilGone(this.marker);
    return exit;
  }

  /** Runs at the end of a test: nothing is left, however the test went. */
  async dispose(): Promise<void> {
    if (this.#exit === undefined) this.signal('SIGKILL');
    await killAll(this.marker);
    await this.exited;
  }
}

const UNSET = {
  PORT: undefined,
  KEEP_SERVER_OPEN: undefined,
  SWITCHBOARD_HTTP_TOKEN: undefined,
  SWITCHBOARD_CONFIG: undefined,
  SWITCHBOARD_LOG_LEVEL: undefined,
};

/** A gateway that clients connect to. */
export class HttpGateway extends RunningProgram {
  readonly project: Project;
  #said: Announcement | undefined;

  constructor(project: Project, options: ProgramOptions) {
    super(project, options);
    this.project = project;
  }

  async ready(): Promise<this> {
    this.#said = await this.announcement();
    return this;
  }

  get said(): Announcement {
    return this.#said!;
  }

  get url(): string {
    return this.said.url;
  }

  get sse(): string {
    return this.said.sse;
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  /** The token that clients must send: the one that it printed, or else the tests'. */
  get token(): string {
    return this.said.token.value ?? TOKEN;
  }

  /** The response of /status. */
  async health(): Promise<any> {
    const headers = { authorization: `Bearer ${this.token}` };
    const response = await fetch(new URL('/status', this.url), { headers });
    if (response.status !== 200) throw new Error(`/status answered ${response.status}`);
    return response.json();
  }

  /** Waits until there are that many sessions, and that many processes besides it. */
  async untilLeft({ sessions, children }: { sessions?: number; children?: number }): Promise<void> {
    const look = async (): Promise<boolean> =>
      (sessions === undefined || (await this.health()).sessions === sessions) &&
      (children === undefined || this.children().length === children);
    await until(look, {
      deadline: 20_000,
      what: `${sessions ?? 'any'} sessions and ${children ?? 'any'} children`,
      seen: () =>
        this.children()
          .map(({ pid, command }) => `${pid} ${command}`)
          .join('; '),
    });
  }
}

/** Starts a built program with these servers, on any free port, and waits until it listens. */
export async function startHttpGateway(
  servers: Readonly<Record<string, ServerCommand | (ServerCommand & Record<string, unknown>)>>,
  options: HttpGatewayOptions = {},
): Promise<HttpGateway> {
  const { config = {}, http = {}, ...program } = options;
  const file = program.program === 'mcp-proxy-server' ? 'config.json' : 'switchboard.config.json';
  const project = createProject(
    { [file]: { mcpServers: servers, http: { token: TOKEN, ...http }, ...config } },
    options.scope,
  );
  const args = ['--http', '0', '--json'];
  return new HttpGateway(project, { args, ...program }).ready();
}
