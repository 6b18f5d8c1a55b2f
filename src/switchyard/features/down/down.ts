import { describeProcess, readExit } from '../../../process/index.ts';
import { serviceKey, slug } from '../../records/names.ts';
import { scopeBranch } from '../../records/project/branch.ts';
import type { YardContext } from '../../records/project/context.ts';
import { withProjectLock } from '../../records/state/project-lock.ts';
import type { ServiceRecord } from '../../records/state/records.ts';
import type { OnEvent } from '../../runtime/events.ts';
import { releaseLease } from '../../runtime/ports/lease.ts';
import { exitFileOf } from '../../runtime/processes/exit.ts';
import type { Observed } from '../../runtime/processes/observe.ts';
import { stopServices, type Stopped } from '../../runtime/processes/stop.ts';
import { reconcile } from '../../runtime/services/reconcile.ts';

export interface DownOptions {
  /** Default: the branch of the current worktree; from the project's own directory, all. */
  readonly branch?: string | undefined;
  /** Empty means all. An unknown name is not an error. */
  readonly services: readonly string[];
  /** Whether to forget services that are not provably ours. Even then they are not signalled. Default false. */
  readonly force?: boolean | undefined;
  /** Aborts waiting for other commands; work that has begun is completed. */
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: OnEvent | undefined;
}

export interface DownResult {
  /** False if a process is left, or could not be proven to be ours. */
  readonly ok: boolean;
  readonly action: 'down';
  /** A slug; null means all. */
  readonly branch: string | null;
  readonly scope: 'branch' | 'all';
  /** As requested. */
  readonly services: readonly string[];
  readonly messages: readonly string[];
  readonly outcomes: readonly DownOutcome[];
}

export interface DownOutcome {
  readonly service: string;
  readonly branch: string;
  /** `stale`: it had ended before; `unverified`: nothing proves that its process is ours, so it was left alone. */
  readonly result: Stopped['result'] | 'stale' | 'unverified';
  /** How long it took to stop; null if there was nothing to stop. */
  readonly took_ms: number | null;
}

/** Stops services, releases their ports and forgets them. The proxy keeps running. */
export async function down(context: YardContext, options: DownOptions): Promise<DownResult> {
  const { services, signal, onEvent } = options;
  await context.registry.repair();
  const branch = scopeBranch(context, options.branch);
  const { ok, messages, outcomes } = await withProjectLock(
    context,
    { what: `down ${branch ?? 'all'}`, onEvent, signal },
    () => downUnderLock(context, branch, options),
  );
  return {
    ok,
    action: 'down',
    branch: branch ?? null,
    scope: branch === undefined ? 'all' : 'branch',
    services,
    messages: messages.length > 0 ? messages : await nothingFound(context, options),
    outcomes,
  };
}

async function nothingFound(context: YardContext, { branch, services }: DownOptions): Promise<string[]> {
  const { unknownNames } = await import('../../records/project/unknown-names.ts');
  return ['no matching running services', ...(await unknownNames(context, { branch, services }))];
}

async function downUnderLock(
  context: YardContext,
  branch: string | undefined,
  { services, force = false, onEvent }: DownOptions,
): Promise<Pick<DownResult, 'ok' | 'messages' | 'outcomes'>> {
  const wanted = services.map(slug);
  const chosen = (await reconcile(context))
    .filter(({ record }) => branch === undefined || record.branch_slug === branch)
    .filter(({ record }) => wanted.length === 0 || wanted.includes(slug(record.service)));
  const nameOf = namesIn(chosen.map(({ record }) => record));
  const stopped = await stopServices(
    chosen.filter(({ status }) => status === 'running'),
    { onEvent, nameOf },
  );
  const verdicts = chosen.map((observed): Verdict => {
    const name = nameOf(observed.record);
    const stop = stopped.find((each) => each.observed === observed);
    if (stop !== undefined) return { ...stop, over: stop.result !== 'left' };
    return observed.status === 'stale'
      ? { observed, result: 'stale', over: true, message: tellStale(observed.record, name) }
      : {
          observed,
          result: 'unverified',
          over: force,
          message: tellUnverified(observed.record, name, force),
        };
  });
  await forget(
    context,
    verdicts.filter(({ over }) => over).map(({ observed }) => observed),
  );
  return {
    ok: verdicts.every(({ over }) => over),
    messages: verdicts.map(({ message }) => message),
    outcomes: verdicts.map(({ observed: { record }, result, milliseconds }) => ({
      service: record.service,
      branch: record.branch,
      result,
      took_ms: milliseconds ?? null,
    })),
  };
}

interface Verdict {
  readonly observed: Observed;
  readonly result: DownOutcome['result'];
  /** Whether its record may be removed. */
  readonly over: boolean;
  readonly message: string;
  readonly milliseconds?: number;
}

/** Names services with their branch if there are several branches, because each may have a service of the same name. */
function namesIn(records: readonly ServiceRecord[]): (record: ServiceRecord) => string {
  const several = new Set(records.map((record) => record.branch_slug)).size > 1;
  return ({ service, branch }) => (several ? `${service} of ${branch}` : service);
}

/** Releases everything of services that have ended: their checkouts, ports and records. */
async function forget(context: YardContext, over: readonly Observed[]): Promise<void> {
  const { home, registry, config } = context;
  const records = over.map(({ record }) => record);
  const keys = records.map(({ branch, service }) => serviceKey(branch, service));
  if (keys.length === 0) return;
  const checkouts = registry.read().projects[config.root]?.checkouts ?? {};
  if (keys.some((key) => checkouts[key] !== undefined)) {
    const { dropCheckouts } = await import('../checkout/uncheckout.ts');
    await dropCheckouts(context, keys);
  }
  // The record keeps the port from others until the lease is gone.
  for (const { port, cookie } of records) releaseLease(home, port, cookie);
  await registry.change((state) => {
    const services = state.projects[config.root]?.services ?? {};
    for (const key of keys) Reflect.deleteProperty(services, key);
  });
}

function tellStale({ pid, log_file }: ServiceRecord, name: string): string {
  const removed = `removed stale record for ${name}`;
  if (pid === null) return `${removed}; it was never started`;
  if (describeProcess(pid) !== undefined) return `${removed}; pid ${pid} no longer matches`;
  const code = readExit(exitFileOf(log_file))?.code;
  return `${removed}; pid ${pid} is gone${code === undefined ? '' : ` (exit code ${code})`}`;
}

function tellUnverified({ pid }: ServiceRecord, name: string, force: boolean): string {
  const doubt = `nothing proves that pid ${pid ?? 0} is ${name}, so it was not signalled`;
  return force ? `removed record for ${name}; ${doubt}` : `could not stop ${name}: ${doubt}`;
}
