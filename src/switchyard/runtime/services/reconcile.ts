import { setTimeout as pause } from 'node:timers/promises';
import { serviceKey } from '../../records/names.ts';
import { recordedServices, type YardContext } from '../../records/project/context.ts';
import { identityFields } from '../../records/state/process-record.ts';
import type { ServiceRecord } from '../../records/state/records.ts';
import { releaseLease } from '../ports/lease.ts';
import { observeServices, type Observed } from '../processes/observe.ts';
import { sortRecords } from './sort-records.ts';

/**
 * Between fork and `exec` a process shows the environment of its parent, and during `exec` none, so finding no process
 * proves nothing. Busy machines need this long; only a killed `up` makes us wait for it. In milliseconds.
 */
const SECOND_LOOK = 250;

/**
 * The services of the project, after repairing what a killed `up` left unfinished: the process it started last is
 * recorded, and a record whose process was never started is dropped.
 *
 * Call it under the lock of the project. An intent lives within one hold of that lock, so the command whose intent is
 * found here has ended or failed.
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
    // The record reserves the port until the lease is gone.
    if (status === 'stale') releaseLease(context.home, record.port, record.cookie);
  }
  await context.registry.change((state) => {
    const services = state.projects[context.config.root]?.services ?? {};
    for (const { record, root, status } of intents) {
      const key = serviceKey(record.branch, record.service);
      if (services[key]?.cookie !== record.cookie) continue;
      if (status === 'stale') Reflect.deleteProperty(services, key);
      else if (root !== undefined) services[key] = { ...record, ...identityFields(root) };
    }
  });
  return observeServices(recordsOf(context));
}

function recordsOf(context: YardContext): readonly ServiceRecord[] {
  return sortRecords(context.config, recordedServices(context));
}
