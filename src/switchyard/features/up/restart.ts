import { SwitchboardError } from '../../../shared/errors.ts';
import { slug } from '../../records/names.ts';
import { resolveBranch, type BranchLocation } from '../../records/project/branch.ts';
import { recordedServices, type YardContext } from '../../records/project/context.ts';
import type { ServiceRecord } from '../../records/state/records.ts';
import { stopServices } from '../../runtime/processes/stop.ts';
import { reconcile } from '../../runtime/services/reconcile.ts';
import type { StartRecord } from '../../runtime/start/prepare.ts';
import { selectServices } from './selection.ts';
import { bringUp, type UpOptions, type UpResult } from './up.ts';

export type RestartOptions = Omit<UpOptions, 'checkout'>;

/**
 * Stops services of a branch and starts them again, on the same ports if possible, holding the lock of the project in
 * between. Without names: all recorded services, running or not. Checkouts stay.
 */
export async function restart(context: YardContext, options: RestartOptions): Promise<UpResult> {
  const { config } = context;
  const named = selectServices(config, options.services, options.profile);
  await context.registry.repair();
  const location = await resolveBranch(context, options.branch);
  const records = recordedServices(context).filter((record) => record.branch_slug === location.slug);
  const known = records.map(({ service }) => slug(service));
  const wanted =
    named.requested.length > 0 ? named.wanted : named.wanted.filter((name) => known.includes(name));
  if (wanted.length === 0) return nothingToDo(context, location, options.branch);
  const before = records.filter(({ service }) => wanted.includes(slug(service)));
  return bringUp(context, {
    options,
    selection: { ...named, wanted },
    location,
    action: 'restart',
    profileOf: (service) =>
      named.profile ?? config.profiles.find(({ name }) => name === profileIn(before, service)),
    before: () => stopFirst(context, location.slug, new Set(wanted), options),
  });
}

async function nothingToDo(
  context: YardContext,
  { branch, worktree }: BranchLocation,
  requested: string | undefined,
): Promise<UpResult> {
  const { unknownNames } = await import('../../records/project/unknown-names.ts');
  const messages = ['no matching running services', ...(await unknownNames(context, { branch: requested }))];
  return {
    ok: true,
    action: 'restart',
    branch,
    worktree,
    profile: null,
    services: [],
    messages,
    outcomes: [],
  };
}

/** Call it under the lock of the project. The records stay, so that the services get their ports again. */
async function stopFirst(
  context: YardContext,
  branch: string,
  wanted: ReadonlySet<string>,
  { onEvent }: RestartOptions,
): Promise<void> {
  const running = (await reconcile(context)).filter(
    ({ record, status }) =>
      status === 'running' && record.branch_slug === branch && wanted.has(slug(record.service)),
  );
  const left = (await stopServices(running, { onEvent })).filter(({ result }) => result === 'left');
  if (left.length === 0) return;
  throw new SwitchboardError('NOT_STOPPED', left.map(({ message }) => message).join('; '), {
    hint: 'Nothing was restarted. End these processes yourself, then run `switchyard up`.',
  });
}

function profileIn(records: readonly ServiceRecord[], service: string): string | null | undefined {
  const record = records.find((each) => slug(each.service) === service);
  return (record as Partial<Pick<StartRecord, 'profile'>> | undefined)?.profile;
}
