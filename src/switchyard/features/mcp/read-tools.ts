import { SwitchboardError } from '../../../shared/errors.ts';
import type { YardContext } from '../../records/project/context.ts';
import { listWorktrees } from '../../records/project/list-worktrees.ts';
import { unknownNames } from '../../records/project/unknown-names.ts';
import type { ProcessRecord } from '../../records/state/records.ts';
import { brief } from '../brief/brief.ts';
import { examine } from '../doctor/doctor.ts';
import { AGENT_BYTES, logs, type LogsResult } from '../logs/logs.ts';
import { parseSince } from '../logs/since.ts';
import { status } from '../status/status.ts';
import { where } from '../where/where.ts';
import {
  BRIEF_SERVICE,
  CHECKOUT,
  CHECKOUT_STATUS,
  closed,
  FLAG,
  listOf,
  NUMBER,
  SERVICE_LOCATION,
  PROXY,
  SERVICE,
  TEXT,
  TEXT_OR_NULL,
  TEXTS,
  WORKTREE,
} from './schemas.ts';
import { BRANCH_ARGUMENT, READ_ONLY, SCOPE_ARGUMENT, type YardTool } from './tool.ts';

export const doctorTool: YardTool = {
  name: 'switchyard_doctor',
  title: 'Check the setup',
  description:
    'The setup of this project: services, profiles, proxy, missing env files, and problems with their solutions.',
  hints: READ_ONLY,
  arguments: {},
  output: closed({
    ok: FLAG,
    switchyard: TEXT,
    node: TEXT,
    home: TEXT,
    project: TEXT,
    project_root: TEXT,
    config: TEXT,
    proxy: closed({ host: TEXT, port: NUMBER, tld: TEXT }),
    services: TEXTS,
    profiles: TEXTS,
    env_warnings: TEXTS,
    findings: listOf(
      closed({ level: { ...TEXT, enum: ['error', 'warning', 'note'] }, what: TEXT, next: TEXT }),
    ),
  }),
  run: async (yard) => ({ data: await diagnosisOf(yard) }),
};

/** The findings of `doctor`, flattened. */
export async function diagnosisOf(yard: YardContext): Promise<object> {
  const { ok, switchyard, node, home, project, proxy, services, profiles, env_warnings, findings } =
    await examine(yard);
  const { host, port, tld } = proxy;
  return {
    ok,
    switchyard,
    node,
    home,
    project: project.name,
    project_root: project.root,
    config: project.config,
    proxy: { host, port, tld },
    services,
    profiles,
    env_warnings,
    findings,
  };
}

export const statusTool: YardTool = {
  name: 'switchyard_status',
  orRecorded: true,
  title: 'Show services',
  description:
    'The started services with address, process, state, health and recent errors; the branch of each canonical port; whether the proxy responds.',
  hints: READ_ONLY,
  arguments: { branch: SCOPE_ARGUMENT },
  output: closed({ services: listOf(SERVICE), checkouts: listOf(CHECKOUT_STATUS), proxy: PROXY }),
  async run(yard, given) {
    const branch = given.text('branch');
    const { services, checkouts, proxy } = await status(yard, { branch });
    const notes = await doubtsAbout(yard, branch, services);
    return { data: { services: services.map(withoutIdentity), checkouts, proxy }, notes };
  },
};

/** An empty result may mean that the branch does not exist. */
async function doubtsAbout(
  yard: YardContext,
  branch: string | undefined,
  found: readonly unknown[],
): Promise<readonly string[]> {
  return branch === undefined || found.length > 0 ? [] : unknownNames(yard, { branch });
}

/** Internal fields that identify a process. */
const IDENTITY: readonly string[] = [
  'cookie',
  'boot_id',
  'pid_namespace',
  'process_started_at',
  'pgid',
  'argv',
] satisfies (keyof ProcessRecord)[];

function withoutIdentity(record: ProcessRecord): object {
  return Object.fromEntries(Object.entries(record).filter(([key]) => !IDENTITY.includes(key)));
}

export const listTool: YardTool = {
  name: 'switchyard_list',
  title: 'List worktrees',
  description: 'The worktrees of this project with branch and directory.',
  hints: READ_ONLY,
  arguments: {},
  output: closed({ worktrees: listOf(WORKTREE) }),
  run: async (yard) => ({ data: { worktrees: await listWorktrees(yard) } }),
};

export const briefTool: YardTool = {
  name: 'switchyard_brief',
  words: ['branch'],
  title: 'Brief',
  description:
    'Start here: what is configured, what runs and where, its state and health, the branch of each canonical port, changed files, missing env files, recent errors.',
  hints: READ_ONLY,
  arguments: { branch: SCOPE_ARGUMENT },
  output: closed({
    project: TEXT,
    project_root: TEXT,
    branch: { ...TEXT_OR_NULL, description: 'null: all branches.' },
    configured_services: TEXTS,
    configured_profiles: TEXTS,
    proxy: {
      ...TEXT,
      enum: ['running', 'not-running'],
      description: 'Named addresses work only while it is running.',
    },
    services: listOf(BRIEF_SERVICE),
    checkouts: listOf(CHECKOUT),
    changed_files: TEXTS,
    env_warnings: TEXTS,
    recent_errors: listOf(closed({ service: TEXT_OR_NULL, line: TEXT })),
  }),
  async run(yard, given) {
    const branch = given.text('branch');
    const data = await brief(yard, { branch });
    return { data, notes: await doubtsAbout(yard, branch, data.services) };
  },
};

export const whereTool: YardTool = {
  name: 'switchyard_where',
  words: ['service', 'branch'],
  title: 'Find a service',
  description:
    'Where one service of a branch runs: the working address, port, process, worktree, log file, and proof of which process listens on its port.',
  hints: READ_ONLY,
  arguments: {
    service: { kind: 'text', required: true, description: 'The name of the service.' },
    branch: BRANCH_ARGUMENT,
  },
  output: SERVICE_LOCATION,
  async run(yard, given) {
    const found = await where(yard, { service: given.required('service'), branch: given.text('branch') });
    return { data: withoutIdentity(found), notes: found.warnings };
  },
};

export const logsTool: YardTool = {
  name: 'switchyard_logs',
  words: ['branch', 'service'],
  orRecorded: true,
  title: 'Read logs',
  description:
    'The last lines that services of a branch wrote since they were last started. Secrets from env files are masked.',
  hints: READ_ONLY,
  arguments: {
    service: { kind: 'text', description: 'The name of the service. Default: all of the branch.' },
    branch: BRANCH_ARGUMENT,
    lines: {
      kind: 'number',
      least: 1,
      most: 300,
      usual: 80,
      description: 'Maximum number of lines per service.',
    },
    grep: {
      kind: 'text',
      description:
        'Only lines that match this regular expression or text. Case-insensitive unless it contains capitals.',
    },
    since: {
      kind: 'text',
      description: 'Only lines since: a duration such as 10m or 2h, or a time such as 2026-01-31T14:00.',
    },
    max_bytes: {
      kind: 'number',
      least: 1,
      most: 100_000,
      usual: AGENT_BYTES,
      description: 'Maximum size of all lines together, in bytes.',
    },
  },
  output: closed({
    logs: listOf(
      closed(
        {
          service: TEXT,
          branch: TEXT,
          log_file: TEXT,
          lines: TEXTS,
          truncated: { ...FLAG, description: 'Whether there are more lines.' },
        },
        { undated: { ...FLAG, description: 'No line has a timestamp, so some may be older than since.' } },
      ),
    ),
  }),
  async run(yard, given) {
    const since = given.text('since');
    if (since !== undefined) checkTime(since);
    const found = await logs(yard, {
      service: given.text('service'),
      branch: given.text('branch'),
      lines: given.number('lines'),
      grep: given.text('grep'),
      since,
      maxBytes: given.number('max_bytes'),
    });
    return { data: { logs: found.logs }, text: tailOf(found) };
  },
};

function checkTime(since: string): void {
  try {
    parseSince(since);
  } catch (error) {
    if (!(error instanceof SwitchboardError)) throw error;
    throw new SwitchboardError('ARGS_INVALID', `since must be a duration or a time: ${error.message}`, {
      hint: error.hint,
    });
  }
}

/** The lines as text; with several services, each has a title. */
function tailOf({ logs: found }: LogsResult): string {
  return found
    .flatMap(({ service, branch, lines, truncated }) => [
      ...(found.length > 1 ? [`==> ${service} (${branch}) <==`] : []),
      ...(truncated ? ['(earlier lines were truncated)'] : []),
      ...lines,
    ])
    .join('\n');
}
