import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { SwitchboardError } from '../../shared/errors.ts';

/**
 * Where a login may lead. A server names the addresses of its login itself, so a bad one could name what only this
 * machine can reach. What the user typed is the user's own choice; what was found from there must be https, and as
 * public as what was typed.
 */
export interface AddressGuard {
  /** Throws ADDRESS_REFUSED unless documents may be read there: on the typed server itself, or as for an endpoint. */
  checkDocument(url: URL): Promise<void>;
  /** Throws ADDRESS_REFUSED unless secrets may be sent there: https, or this very machine where that was typed. */
  checkEndpoint(url: URL): Promise<void>;
  /**
   * Resolves a name for a connection and checks all addresses at the moment of use, since a name may change them. Those
   * of the typed server must be in one network, and stay there.
   */
  resolve(hostname: string): Promise<readonly LookupAddress[]>;
}

/** How far away an address is. `nowhere`: one that no server has. */
type Reach = 'public' | 'private' | 'link-local' | 'loopback' | 'nowhere';

type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

/** What else may be reached from a server that was typed. */
const REACHABLE: Readonly<Record<Reach, readonly Reach[]>> = {
  public: ['public'],
  private: ['public', 'private'],
  'link-local': ['public', 'link-local'],
  loopback: ['public', 'private', 'loopback'],
  nowhere: ['public'],
};

export function createAddressGuard(typed: URL, resolve: Resolve = lookupAll): AddressGuard {
  const typedHost = hostOf(typed);
  let first: Promise<readonly Reach[]> | undefined;
  /** Where the typed server was at first. */
  const typedReaches = (): Promise<readonly Reach[]> =>
    (first ??= reachesOf(typedHost, resolve).catch(() => {
      first = undefined;
      return [];
    }));
  const isAllowed = async (host: string, reach: Reach): Promise<boolean> => {
    const own = await typedReaches();
    if (REACHABLE[networkOf(typedHost, own)].includes(reach)) return true;
    return host === typedHost && own.length > 0 && own.every((each) => each === reach);
  };
  const guarded = async (hostname: string): Promise<readonly LookupAddress[]> => {
    const host = withoutDot(hostname);
    // Browsers take such a name to this machine, whatever a resolver says.
    if (isLoopback(host) && !(await isAllowed(host, 'loopback'))) throw elsewhere(host);
    const addresses = await resolve(hostname);
    // All of them: the one that is used may be any.
    for (const { address } of addresses) {
      if (!(await isAllowed(host, reachOf(address)))) throw elsewhere(host);
    }
    return addresses;
  };
  const isSecure = (url: URL): boolean =>
    url.protocol === 'https:' ||
    (url.protocol === 'http:' && isLoopback(typedHost) && isLoopback(hostOf(url)));
  const check = async (url: URL, mayBeUsed: boolean): Promise<void> => {
    if (!mayBeUsed) throw refused(placeOf(url), 'is not https');
    if (url.username !== '' || url.password !== '')
      throw refused(url.host, 'contains a user name or password');
    const host = hostOf(url);
    if (isIP(host) === 0) {
      await guarded(host).catch((error: unknown) => {
        // A name that does not resolve is reported by the connection attempt.
        if (error instanceof SwitchboardError) throw error;
      });
    } else if (!(await isAllowed(host, reachOf(host))))
      throw refused(url.host, 'is on a different network than the configured address');
  };
  return {
    resolve: guarded,
    checkDocument: (url) => check(url, url.origin === typed.origin || isSecure(url)),
    checkEndpoint: (url) => check(url, isSecure(url)),
  };
}

/** Addresses such as those of files have no host. */
function placeOf({ host, protocol }: URL): string {
  return host === '' ? `a ${protocol} address` : host;
}

function refused(where: string, why: string): SwitchboardError {
  return new SwitchboardError('ADDRESS_REFUSED', `The server points the login to ${where}, which ${why}.`, {
    hint: 'Nothing was sent there. Contact the operator of the server.',
  });
}

function elsewhere(host: string): SwitchboardError {
  return refused(host, 'resolves to a different network than the configured address');
}

/** How far away a host is, by each of its addresses. */
async function reachesOf(host: string, resolve: Resolve): Promise<readonly Reach[]> {
  if (isIP(host) !== 0) return [reachOf(host)];
  if (isLoopback(host)) return ['loopback'];
  return (await resolve(host)).map(({ address }) => reachOf(address));
}

/** Only what was literally typed counts as this machine: the owner of a name could point it anywhere. */
function networkOf(host: string, reaches: readonly Reach[]): Reach {
  const [reach = 'public'] = reaches;
  if (isIP(host) !== 0 || isLoopback(host)) return reach;
  return reach === 'private' && reaches.every((each) => each === 'private') ? 'private' : 'public';
}

/** Without the brackets of IPv6 and the dot that may end a name. */
function hostOf({ hostname }: URL): string {
  return withoutDot(hostname.replace(/^\[(.*)\]$/, '$1'));
}

function withoutDot(hostname: string): string {
  return hostname.replace(/\.$/, '');
}

/** Whether this names our own machine, whatever a resolver says. */
function isLoopback(host: string): boolean {
  if (isIP(host) !== 0) return reachOf(host) === 'loopback';
  return host === 'localhost' || host.endsWith('.localhost');
}

const lookupAll: Resolve = (hostname) => lookup(hostname, { all: true });

/** How far away an IP address is, in whichever form it is written. */
export function reachOf(address: string): Reach {
  const plain = address.replace(/%.*$/, '');
  const version = isIP(plain);
  if (version === 0) return 'nowhere';
  const family = version === 6 ? 'ipv6' : 'ipv4';
  return NETWORKS.find(([, list]) => list.check(plain, family))?.[0] ?? 'public';
}

const NETWORKS: readonly (readonly [Reach, BlockList])[] = [
  // The unspecified address leads to this machine too.
  ['loopback', networks(['127.0.0.0', 8], ['0.0.0.0', 8], ['::', 128], ['::1', 128])],
  ['link-local', networks(['169.254.0.0', 16], ['fe80::', 10])],
  [
    'private',
    networks(
      ['10.0.0.0', 8],
      ['172.16.0.0', 12],
      ['192.168.0.0', 16],
      ['100.64.0.0', 10],
      ['192.0.0.0', 24],
      ['198.18.0.0', 15],
      ['fc00::', 7],
      ['fec0::', 10],
      // IPv4 addresses as a network of its own choice translates them (NAT64).
      ['64:ff9b:1::', 48],
    ),
  ],
  // Teredo tunnels lead to an IPv4 address that is not readable from theirs.
  ['nowhere', networks(['224.0.0.0', 4], ['240.0.0.0', 4], ['ff00::', 8], ['2001::', 32])],
];

function networks(...subnets: readonly (readonly [network: string, prefix: number])[]): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of subnets) {
    if (isIP(network) === 6) list.addSubnet(network, prefix, 'ipv6');
    else {
      list.addSubnet(network, prefix, 'ipv4');
      for (const [form, before] of insideIPv6(network)) list.addSubnet(form, before + prefix, 'ipv6');
    }
  }
  return list;
}

/**
 * An IPv4 address inside an IPv6 address: mapped, its old form, translated (SIIT, NAT64), tunnelled (6to4); and after
 * how many bits.
 */
function insideIPv6(address: string): readonly (readonly [form: string, before: number])[] {
  const hex = Buffer.from(address.split('.').map(Number)).toString('hex');
  const groups = `${hex.slice(0, 4)}:${hex.slice(4)}`;
  return [
    [`::ffff:${groups}`, 96],
    [`::${groups}`, 96],
    [`::ffff:0:${groups}`, 96],
    [`64:ff9b::${groups}`, 96],
    [`2002:${groups}::`, 16],
  ];
}
