import { setTimeout as pause } from 'node:timers/promises';
import { bootId, pidNamespace } from '../../process/index.ts';
import { projectRecord, type YardContext } from '../context.ts';
import { serviceKey } from '../names.ts';
import { releaseLease } from '../ports/lease.ts';
import type { ServiceRecord } from '../state/records.ts';
import { observeServices, type Observed } from './observe.ts';
import { sortRecords } from './sort-records.ts';

/**
 * Until it `exec`s, a process shows the environment of its starter, and during that none: a look that finds nobody proves
 * nothing. On a busy machine that takes its time, and only a killed `up` makes us wait for it. In milliseconds.
 */
const SECOND_LOOK = 250;

/**
 * The services of the project as they are, after what a killed `up` left half done was put right: the process it started
 * last gets into its record, and a record whose process was never started is dropped.
 *
 * To be called under the lock of the project. An intent lives within one hold of that lock, so that whoever wrote one
 * that is found here is gone, or has failed to go on.
 */
export async function reconcile(context: YardContext): Promise<readonly Observed[]> {
  const observed = observeServices(recordsOf(context));
  if (observed.every(({ record }) => record.pid !== null)) return observed;
  let intents: readonly Observed[] = observed.filter(({ record }) => record.pid === null);
  if (intents.some(({ status }) => status === 'stale')) {
    await pause(SECOND_LOOK);
    intents = observeServices(intents.map(({ record }) => record));
  }
  for (const { record, status } of intents) {
    // The record keeps the port from others until the lease is gone.
    if (status === 'stale') releaseLease(context.home, record.port, record.cookie);
  }
  await context.registry.change((state) => {
    const services = state.projects[context.config.root]?.services ?? {};
    for (const { record, leader, status } of intents) {
      const key = serviceKey(record.branch, record.service);
      if (services[key]?.cookie !== record.cookie) continue;
      if (status === 'stale') Reflect.deleteProperty(services, key);
      else if (leader !== undefined) services[key] = { ...record, ...identityOf(leader) };
    }
  });
  return observeServices(recordsOf(context));
}

/** A process as records hold it. */
export function identityOf({ pid, startTime }: { readonly pid: number; readonly startTime: number }) {
  return { pid, pgid: pid, process_started_at: startTime, ...ourPlace() };
}

/** Where pids that we write down mean anything. */
export function ourPlace() {
  return { boot_id: bootId() ?? null, pid_namespace: pidNamespace() ?? null };
}

function recordsOf(context: YardContext): readonly ServiceRecord[] {
  return sortRecords(context.config, Object.values(projectRecord(context)?.services ?? {}));
}
