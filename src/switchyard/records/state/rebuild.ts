import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  createTreeFinder,
  describeProcess,
  environmentOf,
  SERVICE_COOKIE,
  type RunningProcess,
} from '../../../process/index.ts';
import { messageOf } from '../../../shared/errors.ts';
import { readConfig } from '../config/read.ts';
import { gitIn, worktreeList } from '../git/git.ts';
import { checkoutOf } from '../git/repository.ts';
import { serviceKey, slug } from '../names.ts';
import { isInside, realPath } from '../paths.ts';
import { CONFIG_FILE, findYardConfig } from './find-config.ts';
import { logFileOf, type Home } from './home.ts';
import { identityFields } from './process-record.ts';
import { ensureProject } from './project-record.ts';
import { timestamp, type ProjectRecord, type ServiceRecord, type State } from './records.ts';

/**
 * Adds what can be recovered without the state: services by the cookies of running processes, whose environment
 * describes them, and worktrees from git. Returns what was found. Existing records stay.
 */
export async function rebuild(home: Home, state: State): Promise<readonly string[]> {
  const messages = findServices(home, state);
  for (const root of rootsIn(home, state)) {
    try {
      await findWorktrees(home, state, root);
    } catch (error) {
      messages.push(`The worktrees of ${root} could not be recovered: ${messageOf(error)}`);
    }
  }
  return messages;
}

function findServices(home: Home, state: State): string[] {
  const known = new Set(
    Object.values(state.projects).flatMap(({ services }) =>
      Object.values(services).map(({ cookie }) => cookie),
    ),
  );
  const messages: string[] = [];
  for (const [cookie, processes] of createTreeFinder(SERVICE_COOKIE).look().carriers()) {
    if (!cookie.startsWith(`${home.hash}.`) || known.has(cookie)) continue;
    const record = serviceOf(home, cookie, processes);
    if (record === undefined) continue;
    const project = projectOf(state, record);
    const key = serviceKey(record.branch, record.service);
    const other = project.services[key];
    // If a service runs twice, the later start is the intended one.
    if ((other?.process_started_at ?? -1) > (record.process_started_at ?? 0)) continue;
    project.services[key] = record;
    messages.push(
      `Recovered: ${record.service} of ${record.branch} in ${record.project_root} (pid ${record.pid ?? 0}).`,
    );
  }
  return messages;
}

/** The record of the project of a service, by the project name it was started with. */
function projectOf(state: State, { project: name, project_root: root }: ServiceRecord): ProjectRecord {
  const file = join(root, CONFIG_FILE);
  const written = writtenName(file) ?? name;
  const project = ensureProject(state, { name: written, root, file });
  if (project.name === name) return project;
  const local = { name, written, chosen: false };
  return Object.assign(project, { name, slug: slug(name), local_name: local });
}

function writtenName(file: string): string | undefined {
  try {
    return readConfig(file).name;
  } catch {
    return undefined;
  }
}

/** A service, reconstructed from its processes, oldest first; undefined if they reveal too little. */
function serviceOf(
  home: Home,
  cookie: string,
  processes: readonly RunningProcess[],
): ServiceRecord | undefined {
  // The started process leads the session. If it is gone, the oldest one that is left represents it.
  const first = processes.find(({ pid, session }) => pid === session) ?? processes[0];
  const env = first === undefined ? undefined : environmentOf(first.pid);
  if (first === undefined || env === undefined) return undefined;
  const { SWITCHYARD_PROJECT: name, SWITCHYARD_PROJECT_ROOT: root, SWITCHYARD_BRANCH: branch } = env;
  const { SWITCHYARD_SERVICE: service, SWITCHYARD_URL: url = '', SWITCHYARD_WORKTREE: worktree = root } = env;
  const port = asPort(env.SWITCHYARD_PORT ?? env.PORT);
  if (!name || !root || !branch || !service || !worktree || port === undefined) return undefined;
  const canonical = asPort(env.CANONICAL_PORT);
  // A shell may wait for the program in between.
  const program = processes.find(({ parent }) => parent === first.pid) ?? first;
  return {
    project: name,
    project_slug: slug(name),
    project_root: root,
    branch,
    branch_slug: slug(branch),
    service: slug(service),
    command: describeProcess(program.pid)?.command ?? '',
    // Without a canonical port, the variable contains the port itself.
    desired_port: canonical === port ? null : (canonical ?? null),
    port,
    backend_host: env.HOST || '127.0.0.1',
    host_header: env.SWITCHYARD_HOST_HEADER === 'rewrite' ? 'rewrite' : 'preserve',
    hostname: URL.canParse(url) ? new URL(url).hostname : '',
    url,
    worktree,
    ...identityFields(first),
    pgid: first.session,
    cookie,
    started_at: timestamp(),
    log_file: logFileOf(
      home,
      { name: writtenName(join(root, CONFIG_FILE)) ?? name, root },
      branch,
      `${slug(service)}.log`,
    ),
  };
}

/** The known projects, and those with worktrees in the home. */
function rootsIn(home: Home, state: State): ReadonlySet<string> {
  const roots = new Set(Object.keys(state.projects));
  for (const project of entriesOf(home.worktrees)) {
    for (const worktree of entriesOf(project)) {
      const file = findYardConfig(state, worktree);
      // A file inside the worktree is a copy.
      if (file !== undefined && !isInside(home.worktrees, file)) roots.add(dirname(file));
    }
  }
  return roots;
}

async function findWorktrees(home: Home, state: State, root: string): Promise<void> {
  const config = readConfig(join(root, CONFIG_FILE));
  const own = checkoutOf(root)?.top;
  for (const { path: listed, branch, bare, prunable } of (await worktreeList(gitIn(root, process.env))) ??
    []) {
    const path = realPath(listed);
    if (bare || prunable || branch === undefined || path === own) continue;
    const { worktrees } = ensureProject(state, config);
    const ours = [home.worktrees, config.worktreeRoot].some(
      (directory) => directory !== undefined && isInside(directory, path),
    );
    worktrees[slug(branch)] ??= {
      branch,
      slug: slug(branch),
      path,
      updated_at: timestamp(),
      ...(ours ? {} : { adopted: true }),
    };
  }
}

function asPort(text: string | undefined): number | undefined {
  const port = Number(text);
  return Number.isInteger(port) && port > 0 && port <= 65_535 ? port : undefined;
}

function entriesOf(directory: string): string[] {
  try {
    return readdirSync(directory).map((name) => join(directory, name));
  } catch {
    return [];
  }
}
