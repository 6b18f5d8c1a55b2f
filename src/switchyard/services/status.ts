import { readExit, type ExitNote } from '../../process/index.ts';
import type { ServiceDefinition } from '../config/definition.ts';
import { connectHost } from '../config/loopback.ts';
import { projectRecord, scopeBranch, type YardContext } from '../context.ts';
import { recentErrors } from '../logs/recent-errors.ts';
import { slug } from '../names.ts';
import { insideLogs } from '../state/home.ts';
import type { ServiceRecord } from '../state/records.ts';
import { exitFileOf } from './exit-file.ts';
import { observeServices, type Observed, type ServiceLife } from './observe.ts';
import { inOrder } from './order.ts';
import { portOwners, type PortOwner } from './ownership.ts';

export interface ServiceStatus extends ServiceRecord {
  readonly status: ServiceLife;
  /** Whether a process of the service listens on its port. Missing unless it runs. */
  readonly ready?: boolean;
  /** What the service says itself, where it was told how to ask. Missing elsewhere. */
  readonly health?: 'healthy' | 'unhealthy' | 'unknown';
  /** How its last run ended. Missing while it runs, and when nobody noted it. */
  readonly exit?: ExitNote;
  /** Who listens on its port, by the word of the kernel. Missing when nobody does. */
  readonly listener?: { readonly address: string; readonly pid: number | null; readonly own: boolean };
  readonly recent_errors: readonly string[];
}

export interface StatusOptions {
  /** Default: the branch of the worktree we stand in, from the project's own directory all. */
  readonly branch?: string | undefined;
}

/** How long a service may take to answer for its health, in milliseconds. */
const HEALTH_TIMEOUT = 1000;

/** What is known of the services, and what is true of them. Changes nothing. */
export async function status(
  context: YardContext,
  { branch: wanted }: StatusOptions,
): Promise<{ readonly services: readonly ServiceStatus[] }> {
  const branch = scopeBranch(context, wanted);
  const records = Object.values(projectRecord(context)?.services ?? {}).filter(
    (record) => branch === undefined || record.branch_slug === branch,
  );
  const observed = observeServices(inOrder(context.config, records));
  const owners = portOwners(observed);
  return { services: await Promise.all(observed.map((each, at) => describe(context, each, owners[at]!))) };
}

async function describe(context: YardContext, observed: Observed, owner: PortOwner): Promise<ServiceStatus> {
  const { record, status: life, leader } = observed;
  const readable = insideLogs(context.home, record.log_file);
  const exit = life === 'stale' && readable ? readExit(exitFileOf(record.log_file)) : undefined;
  const definition = context.config.services.find(({ name }) => name === slug(record.service));
  const health = await healthOf(definition, record, owner);
  return {
    ...record,
    // One whose starter was killed has no pid in its record yet.
    pid: leader?.pid ?? record.pid,
    status: life,
    ...(life === 'running' ? { ready: owner.kind === 'own' } : {}),
    ...(health === undefined ? {} : { health }),
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
    recent_errors: readable ? recentErrors(record.log_file) : [],
  };
}

async function healthOf(
  definition: ServiceDefinition | undefined,
  { port }: ServiceRecord,
  owner: PortOwner,
): Promise<ServiceStatus['health']> {
  if (definition?.health === undefined) return undefined;
  if (owner.kind !== 'own') return 'unknown';
  // Few services say how to ask them, and HTTP takes its time to load.
  const { askHealth } = await import('./health.ts');
  // One that was told 127.0.0.1 may listen on ::1 all the same.
  const host = owner.holder.address === '::1' ? '::1' : connectHost(definition.host);
  const answer = await askHealth({ health: definition.health, host, port, timeout: HEALTH_TIMEOUT });
  return answer.healthy ? 'healthy' : 'unhealthy';
}
