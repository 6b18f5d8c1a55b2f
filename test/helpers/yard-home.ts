import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { afterAll } from 'vitest';
import { bootId, SERVICE_COOKIE, startDetached } from '../../src/process/index.ts';
import { hostName, serviceKey, slug, urlOf } from '../../src/switchyard/records/names.ts';
import { openContext, type YardContext } from '../../src/switchyard/records/project/context.ts';
import { ensureProject } from '../../src/switchyard/records/state/project-record.ts';
import { timestamp, type ServiceRecord } from '../../src/switchyard/records/state/records.ts';
import { newCookie } from '../../src/switchyard/runtime/processes/cookie.ts';
import { dial } from '../../src/switchyard/runtime/sockets/dial.ts';
import { atTestEnd } from './cleanup.ts';
import { until } from './until.ts';

/** A project with its own state home, in which services are recorded without `up`. */
export interface TestYard {
  readonly context: YardContext;
  /** The same project with a fresh registry. */
  readonly reopen: () => YardContext;
  /** A service record, no matter which process listens on its port. */
  readonly record: (service: Partial<ServiceRecord> & { readonly port: number }) => Promise<ServiceRecord>;
  /** A running service: this JavaScript, with its port as PORT. Ready when its port is open. */
  readonly start: (
    branch: string,
    service: string,
    program: string,
    desired?: number,
  ) => Promise<ServiceRecord>;
}

/** `services` are lines of `switchyard.toml`; the default is one service called web. */
export async function testYard(
  services = '[services.web]\ncommand = "node web.js"\n',
  home?: string,
): Promise<TestYard> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'yard-')));
  atTestEnd(() => {
    rmSync(folder, { recursive: true, force: true });
    return Promise.resolve();
  });
  const env = { ...process.env, SWITCHYARD_HOME: home ?? join(folder, 'home') };
  const port = await freePort();
  writeFileSync(
    join(folder, 'switchyard.toml'),
    `[project]\nname = "shop"\n[proxy]\nport = ${port}\n${services}`,
  );
  const reopen = (): YardContext => openContext({ cwd: folder, env });
  const context = reopen();
  const { config, registry } = context;

  const record: TestYard['record'] = async (given) => {
    const service = given.service ?? 'web';
    const branch = given.branch ?? 'main';
    const hostname = hostName(service, branch, config.name, config.proxy.tld);
    const full: ServiceRecord = {
      project: config.name,
      project_slug: config.slug,
      project_root: config.root,
      branch,
      branch_slug: slug(branch),
      service,
      command: '',
      desired_port: null,
      backend_host: '127.0.0.1',
      hostname,
      url: urlOf(hostname, config.proxy.port),
      worktree: config.root,
      pid: null,
      started_at: timestamp(),
      log_file: join(context.home.logs, 'none.log'),
      ...given,
    };
    await registry.change((state) => {
      ensureProject(state, config).services[serviceKey(branch, service)] = full;
    });
    return full;
  };

  return {
    context,
    reopen,
    record,
    async start(branch, service, program, desired) {
      const given = await freePort();
      const cookie = newCookie(context.home);
      const log_file = join(context.home.logs, `${slug(branch)}-${service}.log`);
      const { pid, startTime } = await startDetached({
        name: service,
        command: process.execPath,
        args: ['-e', program],
        cwd: folder,
        env: {
          PORT: String(given),
          [SERVICE_COOKIE]: cookie,
          SWITCHYARD_SERVICE: service,
          SWITCHYARD_BRANCH: branch,
        },
        logFile: log_file,
      });
      atTestEnd(() => {
        endProcess(pid);
        return Promise.resolve();
      });
      await accepts(given);
      return record({
        branch,
        service,
        port: given,
        desired_port: desired ?? null,
        pid,
        pgid: pid,
        process_started_at: startTime,
        boot_id: bootId() ?? null,
        cookie,
        log_file,
      });
    },
  };
}

/**
 * A port that was free a moment ago on both loopback addresses. Below the ephemeral range: tests make many outgoing
 * connections, and one of them could take it.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    // Above the ports that fetch refuses, as browsers do: 10080 is the last one.
    const port = 10_100 + Math.floor(Math.random() * 9900);
    if ((await isFree(port, '127.0.0.1')) && (await isFree(port, '::1'))) return port;
  }
}

function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}

let folderOfDaemon: string | undefined;
afterAll(() => {
  if (folderOfDaemon !== undefined) rmSync(folderOfDaemon, { recursive: true, force: true });
});

/**
 * The command of a program that serves as proxy and forwarder. Built once per test file, because the oldest supported
 * Node does not run TypeScript.
 */
export function daemonProgram(): readonly string[] {
  if (folderOfDaemon === undefined) {
    folderOfDaemon = mkdtempSync(join(tmpdir(), 'yard-daemon-'));
    const entry = fileURLToPath(new URL('./yard-daemon.ts', import.meta.url));
    const outfile = join(folderOfDaemon, 'daemon.mjs');
    buildSync({ entryPoints: [entry], outfile, bundle: true, platform: 'node', format: 'esm' });
  }
  return [process.execPath, join(folderOfDaemon, 'daemon.mjs')];
}

/** By its id, if it still runs. */
export function endProcess(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It is already gone.
  }
}

async function accepts(port: number): Promise<void> {
  const socket = await until(() => dial('127.0.0.1', port).catch(() => undefined), {
    deadline: 20_000,
    what: `port ${port} to accept`,
  });
  socket.destroy();
}
