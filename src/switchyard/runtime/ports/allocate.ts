import { ownIdentity } from '../../../process/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { withLock } from '../../../shared/lock.ts';
import { sha256 } from '../../../shared/sha256.ts';
import { makeHome, type Home } from '../../records/state/home.ts';
import { readLease, releaseLease, removeLease, takeLease, type Lease } from './lease.ts';
import { isPortFree } from './probe.ts';

export interface PortRequest {
  /** The key of the service in the records of its project. */
  readonly key: string;
  /** The cookie of the start that the port is for. */
  readonly cookie: string;
  /** The previous port, which is preferred. */
  readonly before: number | undefined;
}

export interface PortRules {
  readonly home: Home;
  /** The project. Its lock is held, so no other process takes or releases ports for it. */
  readonly root: string;
  /** Both inclusive. */
  readonly range: { readonly start: number; readonly end: number };
  /** Ports that belong to something, whether it listens at the moment or not. */
  readonly avoid: ReadonlySet<number>;
  /** Whether a lease will never be used again. */
  readonly isAbandoned: (lease: Lease) => boolean;
}

/**
 * Leases a port for each request. A service of a branch prefers the same port every time, so that addresses stay the
 * same; if it is taken, it gets the next free one.
 *
 * Only one process at a time: an abandoned lease may be replaced only while no other process checks it too.
 */
export async function allocatePorts(
  wishes: readonly PortRequest[],
  rules: PortRules,
): Promise<ReadonlyMap<string, number>> {
  if (wishes.length === 0) return new Map();
  makeHome(rules.home);
  return withLock(rules.home.lockName('ports'), () => allocateAlone(wishes, rules), {
    what: 'choosing ports',
  });
}

/** Where the search for the port of a service begins. */
export function preferredPort(root: string, key: string, range: PortRules['range']): number {
  const digits = Number.parseInt(sha256(`${root}\0${key}`).slice(0, 8), 16);
  return range.start + (digits % (range.end - range.start + 1));
}

async function allocateAlone(
  wishes: readonly PortRequest[],
  rules: PortRules,
): Promise<ReadonlyMap<string, number>> {
  const ports = new Map<string, number>();
  try {
    for (const wish of wishes) {
      const others = wishes.filter(({ key }) => key !== wish.key).map(({ before }) => before);
      ports.set(wish.key, await findPort(wish, rules, new Set([...ports.values(), ...others])));
    }
  } catch (error) {
    for (const { key, cookie } of wishes) {
      const port = ports.get(key);
      if (port !== undefined) releaseLease(rules.home, port, cookie);
    }
    throw error;
  }
  return ports;
}

async function findPort(
  wish: PortRequest,
  rules: PortRules,
  taken: ReadonlySet<number | undefined>,
): Promise<number> {
  for (const port of candidates(wish, rules)) {
    if (rules.avoid.has(port) || taken.has(port)) continue;
    if (!mayTake(port, wish, rules) || !(await isPortFree(port))) continue;
    const { key, cookie } = wish;
    const lease = { key, root: rules.root, cookie, holder: ownIdentity(), at: Date.now() };
    if (takeLease(rules.home, port, lease)) return port;
    // The existing file is the abandoned lease.
    removeLease(rules.home, port);
    if (takeLease(rules.home, port, lease)) return port;
  }
  const { start, end } = rules.range;
  throw new SwitchboardError('NO_FREE_PORT', `No free TCP ports found in ${start}-${end}.`, {
    hint: 'Widen [ports] in switchyard.toml, or stop what listens there.',
  });
}

function* candidates({ key, before }: PortRequest, { root, range }: PortRules): Generator<number> {
  const { start, end } = range;
  if (before !== undefined && before >= start && before <= end) yield before;
  const first = preferredPort(root, key, range);
  for (let port = first; port <= end; port++) yield port;
  for (let port = start; port < first; port++) yield port;
}

function mayTake(port: number, { key }: PortRequest, { home, root, isAbandoned }: PortRules): boolean {
  const lease = readLease(home, port);
  if (lease === undefined || lease === 'broken') return true;
  // From an earlier start of the same service, whose record must be stale, because the service is being started again.
  if (lease.root === root && lease.key === key) return true;
  return isAbandoned(lease);
}
