import { lookup } from 'node:dns/promises';
import { withTimeout } from '../../../shared/with-timeout.ts';
import { hostName } from '../../records/names.ts';
import { resolveBranch } from '../../records/project/branch.ts';
import type { YardContext } from '../../records/project/context.ts';
import type { Finding } from './finding.ts';

/** Without a network, some resolvers wait for many seconds. In milliseconds. */
const TIMEOUT_MS = 3000;

/** Whether programs that use the system resolver, as most except browsers do, can use the names of services. */
export async function examineResolving(context: YardContext): Promise<readonly Finding[]> {
  const { name, proxy, services } = context.config;
  const { branch } = await resolveBranch(context);
  const host = hostName(services[0]?.name ?? 'web', branch, name, proxy.tld);
  const addresses = await resolve(host);
  const elsewhere = addresses.filter((address) => !/^(?:127\.|::1$)/.test(address));
  if (elsewhere.length > 0) {
    return [
      {
        level: 'warning',
        what: `${host} resolves to ${elsewhere.join(' and ')}, which is not this machine.`,
        next: `Make DNS or the hosts file resolve names below .${proxy.tld} to 127.0.0.1, or choose another [proxy].tld.`,
      },
    ];
  }
  if (addresses.length > 0) return [];
  // Browsers resolve these to the loopback address themselves.
  if (!/(?:^|\.)localhost$/.test(proxy.tld)) {
    return [
      {
        level: 'warning',
        what: `${host} does not resolve on this machine, so the addresses of this project do not work, not even in a browser.`,
        next: `Make DNS or the hosts file resolve names below .${proxy.tld} to 127.0.0.1, or leave [proxy].tld out for localhost.`,
      },
    ];
  }
  return [
    {
      level: 'note',
      what: `${host} does not resolve on this machine: such names work in browsers and curl, but not in Node, Python or wget.`,
      next:
        'Nothing to do for services, which get the loopback address and port of each other. Elsewhere use the port that ' +
        '`switchyard where NAME` prints; on Debian and Ubuntu, the package libnss-myhostname makes the names resolve.',
    },
  ];
}

async function resolve(host: string): Promise<readonly string[]> {
  const resolved = lookup(host, { all: true }).then(
    (found) => found.map(({ address }) => address),
    () => [],
  );
  return withTimeout(resolved, TIMEOUT_MS, () => [], { ref: false });
}
