import type { Actions, CommandResult, PortHolderInfo, YardProject } from '../../../console/index.ts';
import { describeProcess, portHolders } from '../../../process/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import {
  allProjects,
  checkout,
  down,
  listWorktrees,
  logs,
  openProject,
  resolveBranch,
  restart,
  up,
  type ProjectStatus,
  type ServiceStatus,
} from '../../../switchyard/index.ts';

type Env = NodeJS.ProcessEnv;

/** Switchyard's projects, with their branches and services. */
export async function listProjects(env: Env): Promise<readonly YardProject[]> {
  const { projects } = await allProjects(env);
  return Promise.all(projects.map((project) => projectInfo(project, env)));
}

async function projectInfo(project: ProjectStatus, env: Env): Promise<YardProject> {
  const { name, root, status, services, checkouts } = project;
  const branches = new Map<string, string | null>();
  let defined: readonly string[] = [];
  if (status === 'ok') {
    const yard = await openProject({ project: root, cwd: root, env });
    defined = yard.config.services.map((service) => service.name);
    // The project's own checkout is not one of the worktrees, but has services as they do.
    const own = await resolveBranch(yard).catch(() => undefined);
    if (own !== undefined) branches.set(own.branch, own.worktree);
    const worktrees = await listWorktrees(yard).catch(() => []);
    for (const { branch, path } of worktrees) branches.set(branch, path);
  }
  for (const { branch, worktree } of services) if (!branches.has(branch)) branches.set(branch, worktree);
  return {
    name,
    directory: root,
    status,
    branches: [...branches].map(([branch, directory]) => ({ branch, directory })),
    defined,
    services: services.map(serviceInfo),
    checkouts: checkouts.map((each) => ({
      service: each.service,
      branch: each.branch,
      port: each.listen_port,
      status: each.status,
    })),
  };
}

function serviceInfo(service: ServiceStatus): YardProject['services'][number] {
  const { listener } = service;
  return {
    branch: service.branch,
    service: service.service,
    state: service.state,
    note: service.note ?? null,
    pid: service.pid ?? null,
    port: service.port,
    url: service.url,
    since: Date.parse(service.started_at),
    errors: service.recent_errors,
    holder: listener === undefined || listener.own ? null : { pid: listener.pid, address: listener.address },
  };
}

type OfServices = Actions['services.start']['params'];

/** Starts, stops or restarts services. */
export async function runServices(
  what: 'start' | 'stop' | 'restart',
  { directory, branch, service }: OfServices,
  env: Env,
): Promise<CommandResult> {
  const yard = await openProject({ project: directory, cwd: directory, env });
  const options = { branch, services: service === undefined ? [] : [service] };
  const run = { start: up, stop: down, restart }[what];
  return done({ ...(await run(yard, options)) });
}

export async function checkoutBranch(
  { directory, branch }: Actions['projects.checkout']['params'],
  env: Env,
): Promise<CommandResult> {
  const yard = await openProject({ project: directory, cwd: directory, env });
  return done({ ...(await checkout(yard, { branch, services: [] })) });
}

/** A failure is an error on the page, as it is an exit code on the command line. */
function done(result: { readonly ok: boolean; readonly messages: readonly string[] }): CommandResult {
  if (result.ok) return { ...result };
  throw new SwitchboardError('COMMAND_FAILED', result.messages.join('\n'), {
    hint: 'See the log of the service.',
  });
}

export async function serviceLogs(
  { directory, branch, service, lines, search }: Actions['services.logs']['params'],
  env: Env,
): Promise<Actions['services.logs']['result']> {
  const yard = await openProject({ project: directory, cwd: directory, env });
  const grep = search === undefined || search === '' ? {} : { grep: search, fixed: true };
  const most = Math.min(Math.max(lines ?? MOST_LINES, 1), MOST_LINES);
  const found = await logs(yard, { branch, service, lines: most, maxBytes: MOST_BYTES, ...grep });
  return {
    lines: found.logs.flatMap((log) =>
      log.lines.map((text) => ({ branch: log.branch, service: log.service, text })),
    ),
  };
}

const MOST_LINES = 2000;
const MOST_BYTES = 1024 * 1024;

/** The processes that listen on a port. */
export function holdersOf(port: number): readonly PortHolderInfo[] {
  return portHolders([port]).map(({ pid, address }) => ({
    pid: pid ?? null,
    address,
    command: (pid === undefined ? undefined : describeProcess(pid)?.command) ?? null,
  }));
}
