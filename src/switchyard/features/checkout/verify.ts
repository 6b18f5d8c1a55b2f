import { setTimeout as pause } from 'node:timers/promises';
import { slug } from '../../records/names.ts';
import type { YardContext } from '../../records/project/context.ts';
import type { Home } from '../../records/state/home.ts';
import type { ServiceRecord, State } from '../../records/state/records.ts';
import { isDaemonOf } from '../../runtime/daemon/daemon.ts';
import {
  listenersOn,
  describeListener,
  describeHolder,
  type Listener,
} from '../../runtime/ports/listeners.ts';
import { observeServices, type Observed } from '../../runtime/processes/observe.ts';
import { callForwarder } from '../forwarder/control-client.ts';
import { RESPONSE_TIMEOUT_MS } from '../forwarder/forwarded-connection.ts';
import type { OpenMapping } from '../forwarder/protocol.ts';
import type { HttpVisit } from './browse.ts';

export interface VerifyOptions {
  /** The branch that should respond. Default: the one that is checked out. */
  readonly branch?: string | undefined;
  /** Empty means all services that have a canonical port. */
  readonly services: readonly string[];
  /**
   * Whether to open the ports over HTTP as a browser would, after waiting for connections that are finishing. Default
   * false.
   */
  readonly browse?: boolean | undefined;
}

/** What really listens on a canonical port, according to the kernel instead of the records. */
export interface Verification {
  readonly service: string;
  readonly port: number;
  /** Whether the expected branch responds. */
  readonly ok: boolean;
  readonly expected: string | null;
  /** `forwarder`: ours; `service`: one of our services, directly. */
  readonly held_by: 'forwarder' | 'service' | 'stranger' | 'nobody';
  /** The branch of the service that responds in the end; null if it is not one of ours. */
  readonly branch: string | null;
  readonly listeners: readonly Listener[];
  /** Where the forwarder points. */
  readonly target: {
    readonly host: string;
    readonly port: number;
    readonly listeners: readonly Listener[];
  } | null;
  /** Number of connections to the previous target; null if unknown. */
  readonly elsewhere: number | null;
  /** What a browser gets at each address; null if not tried. A null status means that it does not speak HTTP. */
  readonly http: readonly HttpVisit[] | null;
  /** A summary in one sentence. */
  readonly text: string;
}

export async function verify(context: YardContext, options: VerifyOptions): Promise<readonly Verification[]> {
  const wanted = options.services.map(slug);
  const ports = context.config.services.flatMap(({ name, port }) =>
    port !== undefined && (wanted.length === 0 || wanted.includes(name)) ? [{ service: name, port }] : [],
  );
  if (ports.length === 0) return [];
  const state = context.registry.read();
  const mappings = await mappingsOf(context.home, options.browse === true ? ports : []);
  const observed = observeServices(
    Object.values(state.projects).flatMap((project) => Object.values(project.services)),
  );
  const known = observed.flatMap(({ pids }) => [...pids]);
  const forwarder = state.forwarder?.pid;
  const all = listenersOn(
    [...ports.map(({ port }) => port), ...mappings.map(({ target_port }) => target_port)],
    [...(typeof forwarder === 'number' ? [forwarder] : []), ...known],
  );
  return Promise.all(
    ports.map(async ({ service, port }) => {
      const found = answering({ home: context.home, port, all, mappings, observed, state });
      const owner = found.owner?.record;
      const expected = expectedBranch(context, state, service, options.branch);
      const here = owner?.project_root === context.config.root && slug(owner.service) === service;
      // If no branch is expected, any may respond, but no port of ours may point nowhere.
      const right =
        expected === null
          ? owner !== undefined || found.heldBy !== 'forwarder'
          : here && owner.branch_slug === slug(expected);
      const elsewhere = found.heldBy === 'forwarder' ? elsewhereOf(mappings, port) : 0;
      const listeners = all.get(port) ?? [];
      // A port that is not ours is not touched.
      const http =
        options.browse === true && right && owner !== undefined ? await visitAll(port, listeners) : null;
      return {
        service,
        port,
        ok: right && elsewhere === 0 && (http ?? []).every(({ error }) => error === undefined),
        expected,
        held_by: found.heldBy,
        branch: owner?.branch ?? null,
        listeners,
        target: found.target,
        elsewhere,
        http,
        text: [
          describe(port, found, context.config.root),
          ...tellElsewhere(elsewhere),
          ...tellHttp(http ?? []),
        ].join('; '),
      };
    }),
  );
}

/** What the forwarder reports, after it had time to end old connections on these ports. */
async function mappingsOf(
  home: Home,
  settling: readonly { readonly port: number }[],
): Promise<readonly OpenMapping[]> {
  const deadline = performance.now() + RESPONSE_TIMEOUT_MS + 1000;
  for (;;) {
    const mappings = (await callForwarder(home).list()) ?? [];
    const settled = settling.every(({ port }) => (elsewhereOf(mappings, port) ?? 0) === 0);
    if (settled || performance.now() > deadline) return mappings;
    await pause(50);
  }
}

function elsewhereOf(mappings: readonly OpenMapping[], port: number): number | null {
  const mapping = mappings.find((each) => each.listen_port === port);
  if (mapping === undefined) return 0;
  // A forwarder that does not report this keeps them.
  return mapping.elsewhere ?? (mapping.connections === 0 ? 0 : null);
}

/** At the addresses of `localhost` that have a listener. */
async function visitAll(port: number, listeners: readonly Listener[]): Promise<readonly HttpVisit[]> {
  const addresses = listeners.map(({ address }) => (/^::1?$/.test(address) ? '::1' : '127.0.0.1'));
  const { browse } = await import('./browse.ts');
  return browse(port, [...new Set(addresses)].sort());
}

interface Answering {
  readonly heldBy: Verification['held_by'];
  readonly target: Verification['target'];
  readonly owner: Observed | undefined;
  /** The process at the end of the chain. */
  readonly last: Listener | undefined;
  readonly forwarder: Listener | undefined;
}

interface Facts {
  readonly home: Home;
  readonly port: number;
  readonly all: ReadonlyMap<number, readonly Listener[]>;
  readonly mappings: readonly OpenMapping[];
  readonly observed: readonly Observed[];
  readonly state: State;
}

function answering({ home, port, all, mappings, observed, state }: Facts): Answering {
  const listeners = all.get(port) ?? [];
  const ownerOf = ({ pid }: Listener): Observed | undefined =>
    observed.find(({ pids }) => pid !== null && [...pids].includes(pid));
  const isForwarder = ({ pid }: Listener): boolean => pid !== null && isDaemonOf(home, pid, state.forwarder);
  const stranger = listeners.find((listener) => !isForwarder(listener) && ownerOf(listener) === undefined);
  const none = { target: null, owner: undefined, last: undefined, forwarder: undefined };
  const [first] = listeners;
  if (first === undefined) return { ...none, heldBy: 'nobody' };
  // A stranger on one of the two addresses is enough: clients that connect there reach the wrong process.
  if (stranger !== undefined) return { ...none, heldBy: 'stranger', last: stranger };
  const forwarder = listeners.find(isForwarder);
  if (forwarder === undefined) {
    return { ...none, heldBy: 'service', owner: ownerOf(first), last: first };
  }
  const mapping = mappings.find((each) => each.listen_port === port);
  if (mapping === undefined) return { ...none, heldBy: 'forwarder', forwarder };
  const behind = all.get(mapping.target_port) ?? [];
  const last = behind.find((listener) => ownerOf(listener) !== undefined) ?? behind[0];
  return {
    heldBy: 'forwarder',
    target: { host: mapping.target_host, port: mapping.target_port, listeners: behind },
    owner: last === undefined ? undefined : ownerOf(last),
    last,
    forwarder,
  };
}

function describe(port: number, { heldBy, target, owner, last, forwarder }: Answering, root: string): string {
  const endpoint = `localhost:${port}`;
  const process =
    last === undefined ? 'nobody' : owner === undefined ? describeListener(last) : describeHolder(last);
  if (heldBy === 'nobody') return `nothing listens on ${endpoint}`;
  if (heldBy === 'stranger') return `${endpoint} is not ours: ${process} listens there`;
  const name = owner === undefined ? undefined : tellService(owner.record, root);
  if (heldBy === 'service') return `${endpoint} is ${name ?? 'unknown'}: ${process} listens there itself`;
  const via = `through the forwarder (pid ${forwarder?.pid ?? 'unknown'})`;
  if (target === null)
    return `${endpoint} has no target: the forwarder holds it, but does not report where it points`;
  if (last === undefined) return `${endpoint} points to :${target.port} ${via}, where nothing listens`;
  if (name === undefined)
    return `${endpoint} points to :${target.port} ${via}, where another process listens: ${process}`;
  return `${endpoint} is ${name}: ${process} on :${target.port}, ${via}`;
}

function tellElsewhere(elsewhere: number | null): readonly string[] {
  if (elsewhere === 0) return [];
  if (elsewhere === null)
    return ['connections may go elsewhere: its forwarder is older than this command; check out again'];
  return [`${elsewhere === 1 ? '1 connection goes' : `${elsewhere} connections go`} elsewhere`];
}

function tellHttp(visits: readonly HttpVisit[]): readonly string[] {
  if (visits.every(({ status, error }) => status === null && error === undefined)) return [];
  const results = visits.map(
    ({ address, status, error }) =>
      `${error ?? (status === null ? 'no HTTP' : `HTTP ${status}`)} at ${address}`,
  );
  return [results.join(', ')];
}

function tellService({ service, branch, project_root }: ServiceRecord, root: string): string {
  return `${service} of ${branch}${project_root === root ? '' : ` in ${project_root}`}`;
}

function expectedBranch(
  { config }: YardContext,
  state: State,
  service: string,
  branch: string | undefined,
): string | null {
  if (branch !== undefined) return branch;
  const checkouts = Object.values(state.projects[config.root]?.checkouts ?? {});
  return checkouts.find((checkout) => slug(checkout.service) === service)?.branch ?? null;
}
