import { ownIdentity, withKernelLock } from '../../process/index.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import { sha256 } from '../sha256.ts';
import { makeHome, type Home } from '../state/home.ts';
import { readLease, releaseLease, removeLease, takeLease, type Lease } from './lease.ts';
import { isPortFree } from './probe.ts';

export interface PortRequest {
  /** The service, as it is called in the records of its project. */
  readonly key: string;
  /** Of the start that the port is for. */
  readonly cookie: string;
  /** The port it had last time; it gets it again if it can. */
  readonly before: number | undefined;
}

export interface PortRules {
  readonly home: Home;
  /** The project. Its lock is held: nobody else takes or gives back ports for it. */
  readonly root: string;
  /** Both ends count. */
  readonly range: { readonly start: number; readonly end: number };
  /** Ports that belong to somebody, whether they listen at the moment or not. */
  readonly avoid: ReadonlySet<number>;
  /** Whether nobody will ever use this lease again. */
  readonly isAbandoned: (lease: Lease) => boolean;
}

/**
 * A port for each wish, leased. The same service of the same branch prefers the same port every time, so that addresses
 * stay what they were; when that one is taken, the next one behind it.
 *
 * One process at a time: an abandoned lease can be replaced only while nobody else judges it too.
 */
export async function allocatePorts(
  wishes: readonly PortRequest[],
  rules: PortRules,
): Promise<ReadonlyMap<string, number>> {
  if (wishes.length === 0) return new Map();
  makeHome(rules.home);
  return withKernelLock(rules.home.lockName('ports'), () => allocateAlone(wishes, rules), {
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
    // What lies there is the lease that nobody needs any more.
    removeLease(rules.home, port);
    if (takeLease(rules.home, port, lease)) return port;
  }
  const { start, end } = rules.range;
  throw new SwitchboardError('NO_FREE_PORT', `no free TCP ports found in ${start}-${end}`, {
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
  // An earlier start of this very service. Its record is stale, or it would not be started again.
  if (lease.root === root && lease.key === key) return true;
  return isAbandoned(lease);
}
