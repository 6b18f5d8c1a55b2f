import { inLaterTurn } from '../../../shared/turns.ts';
import { changedFiles } from '../../records/git/git.ts';
import { slug } from '../../records/names.ts';
import { resolveBranch, scopeBranch } from '../../records/project/branch.ts';
import { recordedServices, type YardContext } from '../../records/project/context.ts';
import { envSecretMask } from '../../records/project/env-secrets.ts';
import { allInsideLogs } from '../../records/state/home.ts';
import type { ServiceRecord } from '../../records/state/records.ts';
import { recentErrors } from '../../runtime/logs/recent-errors.ts';
import type { ServiceLiveness } from '../../runtime/processes/observe.ts';
import { inspectServices, type Inspected } from '../../runtime/services/inspect.ts';
import type { ServiceState } from '../../runtime/services/service-state.ts';
import { observeCheckouts, type ObservedCheckout } from '../checkout/observe.ts';
import { isProxyAlive } from '../proxy/is-alive.ts';
import { envWarnings } from '../worktrees/env-warnings.ts';

/** An overview of the runtime of a project for newcomers, no longer than necessary. */
export interface Brief {
  readonly project: string;
  readonly project_root: string;
  /** Null means all branches. */
  readonly branch: string | null;
  readonly configured_services: readonly string[];
  readonly configured_profiles: readonly string[];
  /** Named addresses work only while it is `running`. */
  readonly proxy: 'running' | 'not-running';
  readonly services: readonly BriefService[];
  readonly checkouts: readonly BriefCheckout[];
  /** Lines of `git status --short`. */
  readonly changed_files: readonly string[];
  readonly env_warnings: readonly string[];
  readonly recent_errors: readonly BriefError[];
}

export interface BriefService {
  readonly service: string;
  readonly branch: string;
  /** Whether its process is running. */
  readonly status: ServiceLiveness;
  /** Its state, in one word. */
  readonly state: ServiceState;
  /** Details of the state, if the budget allows. */
  readonly note?: string;
  readonly url: string;
  readonly port: number;
  readonly log_file: string;
}

export type BriefCheckout = Pick<
  ObservedCheckout,
  'service' | 'branch' | 'status' | 'listen_host' | 'listen_port' | 'target_host' | 'target_port' | 'log_file'
>;

export interface BriefError {
  /** Null if the error is from the log of the forwarder, which serves all services. */
  readonly service: string | null;
  readonly line: string;
}

/** Target size of a brief, in bytes as printed. Ten services and their most urgent details fit. */
const BUDGET = 4096;
/** Bytes for the variable-length lists if the services alone exceed the budget. */
const LEAST_ROOM = 400;
const MOST_ERRORS = 20;
const MOST_FILES = 50;
const MOST_WARNINGS = 10;
const ERROR_WIDTH = 160;

export interface BriefOptions {
  /** Default: the branch of the current worktree, or all. */
  readonly branch?: string | undefined;
}

/** Only reads. */
export async function brief(context: YardContext, { branch }: BriefOptions = {}): Promise<Brief> {
  const scope = scopeBranch(context, branch);
  const location =
    scope === undefined ? { branch: null, worktree: context.config.root } : await placeOf(context, branch);
  // Git needs two commands, one after the other, and everything else is done while they run: first the logs, while git
  // reads its settings, then the services, which take longer, while it compares files.
  const changes =
    location.worktree === undefined ? [] : changedFiles(location.worktree, context.env).catch(() => []);
  const inScope = ({ branch_slug }: { readonly branch_slug: string }): boolean =>
    scope === undefined || branch_slug === scope;
  const records = recordedServices(context)
    .filter(inScope)
    .sort((a, b) => compare(placeName(a), placeName(b)));
  const checkouts = observeCheckouts(context).filter(inScope);
  const errors = errorsOf(context, records, checkouts);
  await new Promise<void>(inLaterTurn);
  const services = await inspectServices(context, records);
  const { config } = context;
  const whole: Brief = {
    project: config.name,
    project_root: config.root,
    branch: location.branch,
    configured_services: config.services.map(({ name }) => name).sort(),
    configured_profiles: config.profiles.map(({ name }) => name).sort(),
    proxy: isProxyAlive(context) ? 'running' : 'not-running',
    services: services.map(briefService),
    checkouts: checkouts.map(briefCheckout),
    changed_files: [],
    env_warnings: [],
    recent_errors: [],
  };
  return fill(whole, {
    notes: services.map(({ note }) => note),
    warnings: envWarnings(config),
    errors,
    files: await changes,
  });
}

async function placeOf(
  context: YardContext,
  branch: string | undefined,
): Promise<{ branch: string; worktree: string | undefined }> {
  try {
    return await resolveBranch(context, branch);
  } catch (error) {
    if (branch === undefined) throw error;
    // The branch has no worktree (any more), but its services may still run.
    const recorded = recordedServices(context);
    const name = recorded.find((record) => record.branch_slug === slug(branch))?.branch ?? branch;
    return { branch: name, worktree: undefined };
  }
}

function briefService({ record, status, state }: Inspected): BriefService {
  const { service, branch, url, port, log_file } = record;
  return { service, branch, status, state, url, port, log_file };
}

function briefCheckout(checkout: ObservedCheckout): BriefCheckout {
  const { service, branch, status, listen_host, listen_port, target_host, target_port, log_file } = checkout;
  return { service, branch, status, listen_host, listen_port, target_host, target_port, log_file };
}

/** Services first, then checkouts; the last error of each before earlier errors of any. */
function errorsOf(
  context: YardContext,
  records: readonly ServiceRecord[],
  checkouts: readonly ObservedCheckout[],
): readonly BriefError[] {
  const sources = new Map<string, string | null>(records.map(({ log_file, service }) => [log_file, service]));
  for (const { log_file } of checkouts) sources.set(log_file, null);
  const mask = envSecretMask(context);
  const lists = allInsideLogs(context.home, [...sources.keys()]).map((file) => {
    const lines = new Set(recentErrors(file, { width: ERROR_WIDTH, mask }).reverse());
    return [...lines].map((line) => ({ service: sources.get(file) ?? null, line }));
  });
  const rounds = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length: rounds }, (_, round) => lists.flatMap((list) => list[round] ?? [])).flat();
}

/** Fills the variable-length lists as far as the budget allows. */
function fill(
  whole: Brief,
  found: {
    /** One per service. */
    notes: readonly (string | undefined)[];
    warnings: readonly string[];
    errors: readonly BriefError[];
    files: readonly string[];
  },
): Brief {
  let room = Math.max(BUDGET - sizeOf(whole), LEAST_ROOM);
  const take = <T>(items: readonly T[], most: number, share: number): T[] => {
    let left = Math.floor(room * share);
    const taken: T[] = [];
    for (const item of items.slice(0, most)) {
      const cost = costOf(item);
      if (cost > left) break;
      left -= cost;
      room -= cost;
      taken.push(item);
    }
    return taken;
  };
  // Reserves space for the line that says how many are missing.
  room -= costOf(more(1000));
  const services = whole.services.map((service, at) => {
    const note = found.notes[at];
    const [kept] = note === undefined ? [] : take([{ note }], 1, 0.2);
    return { ...service, ...kept };
  });
  const env_warnings = take(found.warnings, MOST_WARNINGS, 0.5);
  const recent_errors = take(found.errors, MOST_ERRORS, 0.8);
  const changed_files = take(found.files, MOST_FILES, 1);
  const missing = found.files.length - changed_files.length;
  if (missing > 0) changed_files.push(more(missing));
  return { ...whole, services, changed_files, env_warnings, recent_errors };
}

function more(count: number): string {
  return `… and ${count} more`;
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value, null, 2)) + 1;
}

/** The size of a list item in the brief: four spaces before each of its lines, and a comma. */
function costOf(item: unknown): number {
  const text = JSON.stringify(item, null, 2);
  return Buffer.byteLength(text) + 4 * text.split('\n').length + 2;
}

function placeName({ branch_slug, service }: { branch_slug: string; service: string }): string {
  return `${branch_slug} ${service}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
