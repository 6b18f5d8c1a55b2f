import type { RecordedExit } from '../../../process/index.ts';
import { serviceKey, slug } from '../../records/names.ts';
import { scopeBranch } from '../../records/project/branch.ts';
import { projectRecord, type YardContext } from '../../records/project/context.ts';
import { envSecretMask } from '../../records/project/env-secrets.ts';
import { insideLogs } from '../../records/state/home.ts';
import type { ServiceRecord } from '../../records/state/records.ts';
import { recentErrors } from '../../runtime/logs/recent-errors.ts';
import type { ServiceLiveness } from '../../runtime/processes/observe.ts';
import { inspectServices, type Inspected } from '../../runtime/services/inspect.ts';
import { hostOfListener, type ServiceState } from '../../runtime/services/service-state.ts';
import { sortRecords } from '../../runtime/services/sort-records.ts';
import { observeCheckouts, type ObservedCheckout } from '../checkout/observe.ts';
import { observeProxy, type ProxyStatus } from '../proxy/observe.ts';

export interface YardStatus {
  readonly services: readonly ServiceStatus[];
  /** The canonical ports of the project, for all branches. */
  readonly checkouts: readonly CheckoutStatus[];
  readonly proxy: ProxyStatus;
}

export interface ServiceStatus extends ServiceRecord {
  /** Whether its process runs. */
  readonly status: ServiceLiveness;
  /** Its state, in one word. */
  readonly state: ServiceState;
  /** Details of the state. */
  readonly note?: string;
  /** Whether a process of the service listens on its port. Missing unless it runs. */
  readonly ready?: boolean;
  /** The result of its health check. Missing if it has none. */
  readonly health?: 'healthy' | 'unhealthy' | 'unknown';
  /** How its last run ended. Missing while it runs, and if it was not recorded. */
  readonly exit?: RecordedExit;
  /** What listens on its port, according to the kernel. Missing if nothing does. */
  readonly listener?: { readonly address: string; readonly pid: number | null; readonly own: boolean };
  readonly recent_errors: readonly string[];
}

export interface CheckoutStatus extends Pick<
  ObservedCheckout,
  'service' | 'branch' | 'status' | 'listen_host' | 'listen_port' | 'target_host' | 'target_port'
> {
  /** The state of the service behind it; null if that is no longer recorded. */
  readonly service_state: ServiceState | null;
}

export interface StatusOptions {
  /** Default: the branch of the current worktree; from the project's own directory, all. */
  readonly branch?: string | undefined;
}

/** The recorded services and their actual state. Changes nothing. */
export async function status(context: YardContext, { branch: wanted }: StatusOptions): Promise<YardStatus> {
  const branch = scopeBranch(context, wanted);
  const proxy = observeProxy(context);
  const checkouts = observeCheckouts(context);
  const inScope = ({ branch_slug }: ServiceRecord): boolean => branch === undefined || branch_slug === branch;
  const leading = new Set(checkouts.map((checkout) => serviceKey(checkout.branch, checkout.service)));
  const records = Object.entries(projectRecord(context)?.services ?? {})
    .filter(([key, record]) => inScope(record) || leading.has(key))
    .map(([, record]) => record);
  const inspected = await inspectServices(context, sortRecords(context.config, records));
  const states = new Map(
    inspected.map(({ record, state }) => [serviceKey(record.branch, record.service), state]),
  );
  const mask = envSecretMask(context);
  return {
    services: inspected
      .filter(({ record }) => inScope(record))
      .map((each) => serviceStatus(context, each, mask)),
    checkouts: checkouts.map((checkout) => ({
      service: checkout.service,
      branch: checkout.branch,
      status: checkout.status,
      service_state: states.get(serviceKey(checkout.branch, checkout.service)) ?? null,
      listen_host: checkout.listen_host,
      listen_port: checkout.listen_port,
      target_host: checkout.target_host,
      target_port: checkout.target_port,
    })),
    proxy: await proxy,
  };
}

/** A service as `status` shows it. */
function serviceStatus(
  { home, config }: YardContext,
  inspected: Inspected,
  mask: (line: string) => string,
): ServiceStatus {
  const { record, status: life, pid, owner, state, note, health, exit } = inspected;
  const hasHealth = config.services.find(({ name }) => name === slug(record.service))?.health !== undefined;
  const answer = health === undefined ? 'unknown' : health.healthy ? 'healthy' : 'unhealthy';
  return {
    ...record,
    pid,
    status: life,
    state,
    ...(note === undefined ? {} : { note }),
    ...(life === 'running' ? { ready: hostOfListener(inspected) !== undefined } : {}),
    ...(hasHealth ? { health: answer } : {}),
    ...(exit === undefined ? {} : { exit }),
    ...(owner.kind === 'nobody'
      ? {}
      : {
          listener: {
            address: owner.holder.address,
            pid: owner.holder.pid ?? null,
            own: owner.kind === 'own',
          },
        }),
    recent_errors: insideLogs(home, record.log_file) ? recentErrors(record.log_file, { mask }) : [],
  };
}
