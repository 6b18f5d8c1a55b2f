import { SwitchboardError } from '../../../shared/errors.ts';
import { shellWord } from '../../../shared/shell-word.ts';
import { slug } from '../../records/names.ts';
import { recordedCheckouts, projectRecord, type YardContext } from '../../records/project/context.ts';
import { withProjectLock, type WaitOptions } from '../../records/state/project-lock.ts';
import { callForwarder } from '../forwarder/control-client.ts';
import { ensureForwarder, withForwarder } from '../forwarder/ensure.ts';
import { sameMapping } from '../forwarder/protocol.ts';
import { observeRecorded, restoreCheckouts } from './restore.ts';

export interface AfterUpOptions extends WaitOptions {
  readonly branch: string;
  /** The services of the branch that were just started. */
  readonly services: readonly string[];
  readonly program?: readonly string[] | undefined;
}

/**
 * Restores the recorded canonical ports of the project: the machine may have rebooted, the forwarder may have been
 * killed, or a service may run on another port now. Reports what was restored, and what was not and why.
 */
export async function restoreAfterUp(
  context: YardContext,
  options: AfterUpOptions,
): Promise<readonly string[]> {
  const project = projectRecord(context);
  if (project === undefined || Object.keys(project.checkouts).length === 0) return [];
  const open = (await callForwarder(context.home).list()) ?? [];
  const broken = observeRecorded(project).filter(
    ({ record, mapping }) =>
      !open.some((each) =>
        mapping === undefined ? each.listen_port === record.listen_port : sameMapping(each, mapping),
      ),
  );
  const messages = broken.some(({ mapping }) => mapping !== undefined) ? await restore(context, options) : [];
  const gone = broken
    .filter(({ mapping }) => mapping === undefined)
    .map(
      ({ record: { service, branch, listen_port: port } }) =>
        `did not restore ${service} of ${branch} on localhost:${port}: it is not running; ` +
        `start it with \`switchyard up ${shellWord(branch)} ${service}\``,
    );
  return [...messages, ...gone, ...takenSince(context, options)];
}

async function restore(
  context: YardContext,
  { branch, program, onEvent, signal }: AfterUpOptions,
): Promise<readonly string[]> {
  const { registry, home, config } = context;
  const what = `up ${branch}`;
  try {
    return await withProjectLock(context, { what, onEvent, signal }, () =>
      withForwarder(home, what, async () => {
        const [first] = Object.values(registry.read().projects[config.root]?.checkouts ?? {});
        if (first === undefined) return [];
        const line = await ensureForwarder({ registry, port: first.listen_port, program });
        return restoreCheckouts(registry, line, new Set());
      }),
    );
  } catch (error) {
    // The services run nevertheless.
    if (!(error instanceof SwitchboardError)) throw error;
    return [`could not restore what was checked out: ${error.explained}`];
  }
}

/** The services of the branch that had their canonical ports until another branch was checked out. */
function takenSince(context: YardContext, { branch, services }: AfterUpOptions): readonly string[] {
  return recordedCheckouts(context)
    .filter(
      ({ before, service }) =>
        before !== undefined && slug(before) === slug(branch) && services.includes(service),
    )
    .map(
      ({ service, branch: now, listen_port: port }) =>
        `localhost:${port} stays with ${now}, which was checked out after ${branch}; ` +
        `switch with \`switchyard checkout ${shellWord(branch)} ${service}\``,
    );
}
