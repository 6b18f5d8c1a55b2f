import { slug } from '../../records/names.ts';
import { scopeBranch } from '../../records/project/branch.ts';
import { projectRecord, type YardContext } from '../../records/project/context.ts';
import { withProjectLock, type WaitOptions } from '../../records/state/project-lock.ts';
import type { CheckoutRecord } from '../../records/state/records.ts';
import { callForwarder } from '../forwarder/control-client.ts';
import { endForwarder, ensureForwarder, withForwarder } from '../forwarder/ensure.ts';
import type { OpenMapping } from '../forwarder/protocol.ts';
import { allCheckouts, forgetCheckouts } from './records.ts';
import { noteUnrecorded, restoreCheckouts } from './restore.ts';

export interface UncheckoutOptions extends WaitOptions {
  /** Default: the branch of the current worktree; from the project's own directory, all. */
  readonly branch?: string | undefined;
  /** Empty means all. */
  readonly services: readonly string[];
  /** How to start the forwarder if necessary. Default: with this program. */
  readonly program?: readonly string[] | undefined;
}

export interface UncheckoutResult {
  readonly ok: true;
  readonly action: 'uncheckout';
  /** A slug; null means all. */
  readonly branch: string | null;
  readonly scope: 'branch' | 'all';
  /** As requested. */
  readonly services: readonly string[];
  readonly messages: readonly string[];
}

/** Releases canonical ports and closes their connections. */
export async function uncheckout(
  context: YardContext,
  options: UncheckoutOptions,
): Promise<UncheckoutResult> {
  const { services, onEvent, signal, program } = options;
  await context.registry.repair();
  const branch = scopeBranch(context, options.branch);
  const wanted = services.map(slug);
  const messages = await withProjectLock(context, { what: 'uncheckout', onEvent, signal }, () =>
    withForwarder(context.home, 'uncheckout', async () => {
      const open = await callForwarder(context.home).list();
      await noteUnrecorded(context.registry, open ?? []);
      const keys = Object.entries(projectRecord(context)?.checkouts ?? {})
        .filter(([, record]) => branch === undefined || record.branch_slug === branch)
        .filter(([, record]) => wanted.length === 0 || wanted.includes(slug(record.service)))
        .map(([key]) => key);
      return (await drop(context, keys, open, program)).map(describeDropped);
    }),
  );
  return {
    ok: true,
    action: 'uncheckout',
    branch: branch ?? null,
    scope: branch === undefined ? 'all' : 'branch',
    services,
    messages: messages.length > 0 ? messages : await nothingFound(context, options),
  };
}

async function nothingFound(
  context: YardContext,
  { branch, services }: UncheckoutOptions,
): Promise<readonly string[]> {
  const { unknownNames } = await import('../../records/project/unknown-names.ts');
  return ['no matching checkouts', ...(await unknownNames(context, { branch, services }))];
}

export interface DroppedCheckout {
  readonly record: CheckoutRecord;
  /** Whether the port really pointed there until now. */
  readonly wasOpen: boolean;
}

/** The same for services of this project by key, for commands that already hold the lock of the project. */
export async function dropCheckouts(
  context: YardContext,
  keys: readonly string[],
): Promise<readonly DroppedCheckout[]> {
  // Most services were never checked out, and most commands do not need the forwarder.
  if (recorded(context, keys).length === 0) return [];
  return withForwarder(context.home, 'uncheckout', async () =>
    drop(context, keys, await callForwarder(context.home).list(), undefined),
  );
}

/** `open` is what the forwarder reports; undefined if it does not respond. */
async function drop(
  context: YardContext,
  keys: readonly string[],
  open: readonly OpenMapping[] | undefined,
  program: readonly string[] | undefined,
): Promise<readonly DroppedCheckout[]> {
  const { registry, home } = context;
  const records = recorded(context, keys);
  if (records.length === 0) return [];
  // A forwarder that does not respond still holds the ports; without it they are free.
  const silenced = open === undefined && (await endForwarder(registry));
  const dropped: DroppedCheckout[] = [];
  for (const record of records) {
    const ours = open?.some((mapping) => isOf(mapping, record, context.config.root)) === true;
    if (ours) await callForwarder(home).unmap(record.listen_port);
    dropped.push({ record, wasOpen: ours || silenced });
  }
  await forgetCheckouts(
    registry,
    records.map((record) => record.listen_port),
  );
  const [left] = allCheckouts(registry.read());
  if (silenced && left !== undefined) {
    const line = await ensureForwarder({ registry, port: left.listen_port, program });
    await restoreCheckouts(registry, line, new Set());
  }
  return dropped;
}

function recorded(context: YardContext, keys: readonly string[]): readonly CheckoutRecord[] {
  const checkouts = projectRecord(context)?.checkouts ?? {};
  return keys.flatMap((key) => checkouts[key] ?? []);
}

/** Whether the port still points to what the record says: another project may have switched it. */
function isOf(mapping: OpenMapping, record: CheckoutRecord, root: string): boolean {
  return (
    mapping.listen_port === record.listen_port &&
    mapping.project_root === root &&
    slug(mapping.branch) === record.branch_slug &&
    mapping.service === record.service
  );
}

function describeDropped({ record, wasOpen }: DroppedCheckout): string {
  return wasOpen
    ? `unchecked ${record.service} from canonical port ${record.listen_port}`
    : `removed stale checkout for ${record.service}; nothing of ours listens on port ${record.listen_port}`;
}
