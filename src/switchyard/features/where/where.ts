import { readExit } from '../../../process/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { didYouMean } from '../../../shared/nearest.ts';
import { shellWord } from '../../../shared/shell-word.ts';
import { serviceKey, slug, urlOf } from '../../records/names.ts';
import { resolveBranch } from '../../records/project/branch.ts';
import { projectRecord, type YardContext } from '../../records/project/context.ts';
import { envSecretMask } from '../../records/project/env-secrets.ts';
import { insideLogs } from '../../records/state/home.ts';
import { whyNamed } from '../../records/state/project-name.ts';
import type { ServiceRecord } from '../../records/state/records.ts';
import { recentErrors } from '../../runtime/logs/recent-errors.ts';
import { listenersOn, describeListener, type Listener } from '../../runtime/ports/listeners.ts';
import { exitFileOf } from '../../runtime/processes/exit.ts';
import { observeServices, type Observed, type ServiceLiveness } from '../../runtime/processes/observe.ts';
import { inspectServices, type Inspected } from '../../runtime/services/inspect.ts';
import { hostOfListener, type ServiceState } from '../../runtime/services/service-state.ts';
import { verify, type Verification } from '../checkout/verify.ts';
import { observeProxy, type ProxyStatus } from '../proxy/observe.ts';
import { answersInstead } from '../proxy/routes.ts';

/** Where a service of a branch runs, and the proof that it listens there. */
export interface ServiceLocation extends ServiceRecord {
  readonly status: ServiceLiveness;
  readonly state: ServiceState;
  /** Details of the state. */
  readonly note?: string;
  /** The working address: `url`, or the port itself if the proxy does not respond; null if neither works. */
  readonly address: string | null;
  readonly proxy: ProxyStatus;
  /** What to know before using the address, with the next step. */
  readonly warnings: readonly string[];
  readonly recent_errors: readonly string[];
  /** What listens on `port`, according to the kernel; null if nothing does. */
  readonly listener: ProvenListener | null;
  /** What responds on the canonical port; null if the service has none. */
  readonly canonical: Verification | null;
  /** The same as text, one sentence per port. */
  readonly proof: readonly string[];
}

export interface ProvenListener extends Listener {
  /** The service of the process; null if it is not ours. */
  readonly service: string | null;
  readonly branch: string | null;
  /** Whether it is a process of the requested service. */
  readonly verified: boolean;
}

/** Only reads. Throws NOT_RUNNING with the next step if the service is not running. */
export async function where(
  context: YardContext,
  { service, branch }: { readonly service: string; readonly branch?: string | undefined },
): Promise<ServiceLocation> {
  const wanted = slug(service);
  const name = branch ?? (await resolveBranch(context)).branch;
  const record = projectRecord(context)?.services[serviceKey(name, wanted)];
  if (record === undefined) throw await notThere(context, wanted, name);

  const everybody = Object.values(context.registry.read().projects).flatMap((project) =>
    Object.values(project.services),
  );
  // One snapshot for all: another listener on the port may be another service of ours.
  const observed = observeServices([record, ...everybody]);
  const proxyCheck = observeProxy(context);
  const [inspected] = await inspectServices(context, [record]);
  if (inspected === undefined) throw new Error('There is a result for each service.');
  const { status, state, note } = inspected;
  const proxy = await proxyCheck;
  if (status === 'stale') throw stale(record);

  const known = context.registry.read();
  const why = whyNamed(known, context.config);
  const listener = listenerOf(observed);
  const [canonical = null] =
    record.desired_port === null ? [] : await verify(context, { branch: record.branch, services: [wanted] });
  return {
    ...record,
    status,
    state,
    ...(note === undefined ? {} : { note }),
    ...addressOf(inspected, proxy, answersInstead(known, record)),
    proxy,
    recent_errors: insideLogs(context.home, record.log_file)
      ? recentErrors(record.log_file, { mask: envSecretMask(context) })
      : [],
    listener,
    canonical,
    proof: [
      describe(record, status, listener),
      ...(canonical === null ? [] : [canonical.text]),
      ...(why === undefined ? [] : [why]),
    ],
  };
}

/** The working address, and what is wrong with the others. */
function addressOf(
  { record, state, note, ...seen }: Inspected,
  proxy: ProxyStatus,
  /** What responds at its named address instead. */
  other: string | undefined,
): Pick<ServiceLocation, 'address' | 'warnings'> {
  const { service, branch, url, port } = record;
  const name = `${service} of ${branch}`;
  const host = hostOfListener(seen);
  const unnamed =
    proxy.status !== 'running'
      ? `${url} does not respond. ${proxy.note ?? ''}`
      : other === undefined
        ? undefined
        : `${url} ${other}. \`switchyard restart ${service} --branch ${shellWord(branch)}\` gives it its own address.`;
  if (host !== undefined)
    return {
      address: unnamed === undefined ? url : urlOf(host, port),
      warnings: [
        ...(unnamed === undefined ? [] : [unnamed]),
        ...(state === 'unhealthy' ? [`${name} is unhealthy: ${note ?? ''}.`] : []),
      ],
    };
  const why =
    state === 'running' ? 'does not listen on a port' : (note ?? `runs, but does not listen on :${port} yet`);
  if (state === 'unverified')
    return { address: null, warnings: [`${url} may not be ${name}: ${note ?? ''}.`] };
  const logs = `\`switchyard logs ${service} --branch ${shellWord(branch)}\` shows what it does.`;
  return { address: null, warnings: [`${url} does not respond: ${name} ${why}. ${logs}`] };
}

/** Its own process counts, even if another process listens on another address of the same port. */
function listenerOf(observed: readonly Observed[]): ProvenListener | null {
  const [own, ...others] = observed as [Observed, ...Observed[]];
  const { port } = own.record;
  const owned = (listener: Listener, by: Observed): boolean =>
    listener.pid !== null && by.pids.includes(listener.pid);
  const listeners = listenersOn([port], own.pids).get(port) ?? [];
  const listener = listeners.find((each) => owned(each, own)) ?? listeners[0];
  if (listener === undefined) return null;
  const verified = owned(listener, own);
  const owner = verified ? own : others.find((each) => owned(listener, each));
  const { service = null, branch = null } = owner?.record ?? {};
  return { ...listener, service, branch, verified };
}

function describe(record: ServiceRecord, status: ServiceLiveness, listener: ProvenListener | null): string {
  const name = `${record.service} of ${record.branch}`;
  const endpoint = `localhost:${record.port}`;
  if (listener === null) {
    return status === 'running'
      ? `${name} runs, but nothing listens on ${endpoint} yet`
      : `nothing listens on ${endpoint}, and nothing proves that pid ${record.pid ?? 'unknown'} is ${name}`;
  }
  if (listener.verified) return `${endpoint} is ${name}: ${describeListener(listener)}`;
  const who =
    listener.service === null ? '' : `, ${listener.service} of ${listener.branch ?? 'another branch'}`;
  return `${endpoint} is not ${name}: ${describeListener(listener)}${who} listens there`;
}

async function notThere(context: YardContext, service: string, branch: string): Promise<SwitchboardError> {
  const { config } = context;
  const names = config.services.map(({ name }) => name);
  if (names.includes(service)) {
    const { unknownNames } = await import('../../records/project/unknown-names.ts');
    const [unknown] = await unknownNames(context, { branch });
    if (unknown === undefined) return notRunning(service, branch, '');
    return new SwitchboardError('NOT_RUNNING', `${service} is not running for ${branch}`, { hint: unknown });
  }
  return new SwitchboardError('UNKNOWN_SERVICE', `Unknown service(s): ${service}.`, {
    hint: `${didYouMean(service, names) ?? ''} ${config.file} has: ${names.join(', ')}.`.trim(),
  });
}

function stale({ service, branch, log_file }: ServiceRecord): SwitchboardError {
  const code = readExit(exitFileOf(log_file))?.code;
  const how = code === undefined ? 'It ended' : `It ended with code ${code}`;
  return notRunning(
    service,
    branch,
    `${how}; \`switchyard logs ${service} --branch ${shellWord(branch)}\` shows its last output. `,
  );
}

function notRunning(service: string, branch: string, why: string): SwitchboardError {
  return new SwitchboardError('NOT_RUNNING', `${service} is not running for ${branch}`, {
    hint: `${why}Start it with \`switchyard up ${shellWord(branch)} ${service}\`.`,
  });
}
