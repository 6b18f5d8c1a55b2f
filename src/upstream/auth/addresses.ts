import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { SwitchboardError } from '../../shared/errors.ts';

/**
 * Limits which addresses a login may use. A server names these addresses itself, so a malicious one could name
 * something that only this machine can reach. The user may type any address; every address discovered from there must
 * use https and be at least as public as the typed one.
 */
export interface AddressGuard {
  /**
   * Throws ADDRESS_REFUSED unless documents may be read from this URL: it is on the typed server itself, or meets the
   * rules for endpoints.
   */
  checkDocument(url: URL): Promise<void>;
  /**
   * Throws ADDRESS_REFUSED unless secrets may be sent to this URL: it uses https, or is on this machine and so was the
   * typed one.
   */
  checkEndpoint(url: URL): Promise<void>;
  /**
   * Resolves a name for a connection and checks all its addresses at that moment, since they may change. Those of the
   * typed server must be in one network, and stay there.
   */
  resolve(hostname: string): Promise<readonly LookupAddress[]>;
}

/** How far away an address is. `nowhere`: no server has such an address. */
type Reach = 'public' | 'private' | 'link-local' | 'loopback' | 'nowhere';

type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

/** What may be reached from a typed server in each network. */
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
  /** The networks that the typed server was in at first. */
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
    // Browsers resolve such a name to this machine, whatever a resolver says.
    if (isLoopback(host) && !(await isAllowed(host, 'loopback'))) throw elsewhere(host);
    const addresses = await resolve(hostname);
    // Check all of them: any one may be used.
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
        // The connection attempt reports a name that does not resolve.
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

/** File URLs and the like have no host. */
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

/** How far away each address of a host is. */
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

/** The host without the brackets of IPv6 and without a trailing dot. */
function hostOf({ hostname }: URL): string {
  return withoutDot(hostname.replace(/^\[(.*)\]$/, '$1'));
}

function withoutDot(hostname: string): string {
  return hostname.replace(/\.$/, '');
}

/** Whether this name means our own machine, whatever a resolver says. */
function isLoopback(host: string): boolean {
  if (isIP(host) !== 0) return reachOf(host) === 'loopback';
  return host === 'localhost' || host.endsWith('.localhost');
}

const lookupAll: Resolve = (hostname) => lookup(hostname, { all: true });

/** How far away an IP address is, in any notation. */
export function reachOf(address: string): Reach {
  const plain = address.replace(/%.*$/, '');
  const version = isIP(plain);
  if (version === 0) return 'nowhere';
  const family = version === 6 ? 'ipv6' : 'ipv4';
  return NETWORKS.find(([, list]) => list.check(plain, family))?.[0] ?? 'public';
}

const NETWORKS: readonly (readonly [Reach, BlockList])[] = [
  // The unspecified address also leads to this machine.
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
      // IPv4 addresses translated with a local NAT64 prefix.
      ['64:ff9b:1::', 48],
    ),
  ],
  // A Teredo address does not reveal which IPv4 address it leads to.
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
 * The forms in which an IPv6 address contains an IPv4 address, and after how many bits: mapped, its old form,
 * translated (SIIT, NAT64), tunnelled (6to4).
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
