import { SwitchboardError } from '../../../shared/errors.ts';
import { asLoopback } from '../../records/config/loopback.ts';
import { slug } from '../../records/names.ts';
import { recordedServices, type YardContext } from '../../records/project/context.ts';
import { withProjectLock, type WaitOptions } from '../../records/state/project-lock.ts';
import type { ServiceRecord } from '../../records/state/records.ts';
import { cannotBind } from '../../runtime/ports/port-taken.ts';
import { observeServices } from '../../runtime/processes/observe.ts';
import type { ForwarderLine } from '../forwarder/control-client.ts';
import { ensureForwarder, withForwarder } from '../forwarder/ensure.ts';
import { RESPONSE_TIMEOUT_MS } from '../forwarder/forwarded-connection.ts';
import type { Mapping, MapAnswer } from '../forwarder/protocol.ts';
import { forgetCheckouts, mappingOf, noteCheckouts } from './records.ts';
import { heldAmong, restoreCheckouts } from './restore.ts';

export interface CheckoutOptions extends WaitOptions {
  /** Its name or its slug. */
  readonly branch: string;
  /** Empty means all running services. */
  readonly services: readonly string[];
  /** How the forwarder is started. Default: with this program. */
  readonly program?: readonly string[] | undefined;
}

export interface CheckoutResult {
  /** Whether everything requested points there now; also false if nothing could be done. */
  readonly ok: boolean;
  readonly action: 'checkout';
  readonly branch: string;
  readonly scope: 'branch';
  /** As requested. */
  readonly services: readonly string[];
  readonly messages: readonly string[];
}

/**
 * Points the canonical ports to the services of a branch. A port that points to another branch is switched without
 * being closed. Failures are reported as messages and make it not ok; the rest is still done.
 */
export async function checkout(context: YardContext, options: CheckoutOptions): Promise<CheckoutResult> {
  const { branch, services, onEvent, signal } = options;
  await context.registry.repair();
  const done = await withProjectLock(context, { what: `checkout ${branch}`, onEvent, signal }, () =>
    takePorts(context, options),
  );
  return { ...done, action: 'checkout', branch, scope: 'branch', services };
}

interface Done {
  readonly ok: boolean;
  readonly messages: readonly string[];
}

async function takePorts(context: YardContext, options: CheckoutOptions): Promise<Done> {
  const { registry, home } = context;
  const verdicts = checkServices(context, options.branch, options.services);
  const due = verdicts.flatMap(({ mapping }) => mapping ?? []);
  const messages = verdicts.flatMap(({ message }) => message ?? []);
  let ok = verdicts.every(({ result }) => result !== 'failed');
  const [first] = due;
  if (first !== undefined) {
    await withForwarder(home, `checkout ${options.branch}`, async () => {
      const line = await ensureForwarder({ registry, port: first.listen_port, program: options.program });
      messages.push(
        ...(await restoreCheckouts(registry, line, new Set(due.map((each) => each.listen_port)))),
      );
      const pointed = await pointPorts(context, line, due);
      messages.push(...pointed.messages);
      ok &&= pointed.ok;
    });
  }
  if (messages.length === 0) messages.push('no matching running services to checkout');
  if (due.length === 0) {
    const { unknownNames } = await import('../../records/project/unknown-names.ts');
    messages.push(...(await unknownNames(context, options)));
  }
  return { ok: ok && verdicts.some(({ result }) => result !== 'none'), messages };
}

/** `due`: the port must be pointed there; `done`: it already is; `none`: there is nothing to point. */
interface Verdict {
  readonly result: 'due' | 'done' | 'none' | 'failed';
  readonly mapping?: Mapping;
  readonly message?: string;
}

function checkServices(
  context: YardContext,
  branch: string,
  services: readonly string[],
): readonly Verdict[] {
  const wanted = services.map(slug);
  const order = context.config.services.map(({ name }) => name);
  const records = recordedServices(context)
    .filter((record) => record.branch_slug === slug(branch))
    .filter((record) => wanted.length === 0 || wanted.includes(slug(record.service)))
    .sort((a, b) => order.indexOf(slug(a.service)) - order.indexOf(slug(b.service)));
  const missing = wanted.filter((name) => !records.some((record) => slug(record.service) === name));
  return [
    ...observeServices(records).map(({ record, status }) =>
      judgeService(record, status === 'running', wanted.length > 0),
    ),
    ...missing.map((name): Verdict => ({
      result: 'failed',
      message: `${name} is not running for ${branch}`,
    })),
  ];
}

/** A named service must have a port; without names, only services with a port count. */
function judgeService(record: ServiceRecord, running: boolean, named: boolean): Verdict {
  const { service, branch, desired_port: desired, port, backend_host } = record;
  const nothing = named || desired !== null ? 'failed' : 'none';
  if (!running) return { result: nothing, message: `${service} is not running for ${branch}` };
  if (desired === null) return { result: nothing, message: `${service} has no canonical port configured` };
  if (port === desired)
    return { result: 'done', message: `${service} already owns canonical port ${desired}` };
  if (asLoopback(backend_host) === undefined)
    return { result: 'failed', message: `${service} is refused: ${backend_host} is not a loopback host` };
  return { result: 'due', mapping: mappingOf(record, desired) };
}

async function pointPorts(
  { registry }: YardContext,
  line: ForwarderLine,
  due: readonly Mapping[],
): Promise<Done> {
  const messages: string[] = [];
  const open = new Set((await line.list())?.map((mapping) => mapping.listen_port));
  const isHeld = heldAmong(due.map((mapping) => mapping.listen_port).filter((port) => !open.has(port)));
  const free = due.filter((mapping) => !isHeld(mapping.listen_port));
  messages.push(
    ...due
      .filter((mapping) => !free.includes(mapping))
      .map(({ service, listen_port }) => cannotBind(service, listen_port)),
  );
  await noteCheckouts(registry, free);
  const failed: number[] = [];
  for (const mapping of free) {
    const answer = await line.map(mapping);
    if (answer === undefined) {
      throw new SwitchboardError('FORWARDER_GONE', 'The forwarder exited during the request.', {
        hint: 'Run the command again.',
      });
    }
    if (answer.ok) {
      messages.push(...describeSwitch(mapping, answer));
      continue;
    }
    failed.push(mapping.listen_port);
    messages.push(
      answer.code === 'EADDRINUSE'
        ? cannotBind(mapping.service, mapping.listen_port)
        : `${mapping.service} cannot bind canonical port ${mapping.listen_port}: ${answer.error}`,
    );
  }
  if (failed.length > 0) await forgetCheckouts(registry, failed);
  return { ok: failed.length === 0 && free.length === due.length, messages };
}

function describeSwitch(mapping: Mapping, { kind, was, ended, finishing }: MapAnswer): readonly string[] {
  const { service, listen_port: port, target_port } = mapping;
  if (kind === 'same') return [`${service} checkout already running on canonical port ${port}`];
  const text = `${service}: localhost:${port} -> :${target_port}`;
  if (was === undefined) return [`checked out ${text}`];
  const before = describePrevious(was, mapping);
  const messages = [`switched ${text} (was ${before})`];
  if (ended > 0) messages.push(`ended ${connections(ended)} to ${before} on port ${port}`);
  if (finishing > 0) {
    const finish = finishing === 1 ? 'ends after its response' : 'end after their responses';
    messages.push(
      `${connections(finishing)} to ${before} on port ${port} ${finish}, within ${RESPONSE_TIMEOUT_MS / 1000} s`,
    );
  }
  return messages;
}

function connections(count: number): string {
  return count === 1 ? '1 connection' : `${count} connections`;
}

/** The previous target, as far as it differs. */
function describePrevious(was: Mapping, now: Mapping): string {
  const service = was.service === now.service ? '' : `${was.service} of `;
  const project = was.project_root === now.project_root ? '' : ` in ${was.project_root}`;
  return `${service}${was.branch}${project}`;
}
