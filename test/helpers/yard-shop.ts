import { createServer, type Server } from 'node:net';
import { atTestEnd } from './cleanup.ts';
import { freePort } from './yard-home.ts';
import { serviceCommand, type Door } from './yard-traffic.ts';
import { createYard, type TestYard, type TestYardOptions } from './yard.ts';

/** A project called shop, with services from test/services. */
export interface Shop extends TestYard {
  readonly proxyPort: number;
  /** The canonical port of each service. */
  readonly canonical: Readonly<Record<string, number>>;
  /** A service by its name, through the proxy. */
  named(service: string, branch?: string): Door;
  /** A service by its canonical port. */
  usual(service: string, address?: string): Door;
}

export interface ShopOptions extends Omit<TestYardOptions, 'toml'> {
  /** Command lines by name; a word is a program in test/services. */
  readonly services: Readonly<Record<string, string>>;
  /** Where ports are taken from. */
  readonly ports: readonly [number, number];
  /** Default a free one. */
  readonly proxyPort?: number;
  /** Branches besides main, each with a worktree. */
  readonly branches?: readonly string[];
}

export async function createShop({ services, ports, branches = [], ...options }: ShopOptions): Promise<Shop> {
  const proxyPort = options.proxyPort ?? (await freePort());
  const canonical: Record<string, number> = {};
  for (const name of Object.keys(services)) canonical[name] = await freePort();
  const tables = Object.entries(services).map(
    ([name, command]) =>
      `[services.${name}]\ncommand = '${/^\w+$/.test(command) ? serviceCommand(command) : command}'\n` +
      `port = ${canonical[name]!}\nready_timeout = 40\n`,
  );
  const yard = createYard({
    ...options,
    toml:
      `[project]\nname = "shop"\n[proxy]\nport = ${proxyPort}\n` +
      `[ports]\nstart = ${ports[0]}\nend = ${ports[1]}\n${tables.join('')}`,
  });
  for (const branch of branches) await yard.ask('create', branch);
  return {
    ...yard,
    proxyPort,
    canonical,
    named: (service, branch = 'main') => ({
      port: proxyPort,
      host: `${service}.${branch}.shop.localhost:${proxyPort}`,
    }),
    usual: (service, address = '127.0.0.1') => ({
      port: canonical[service]!,
      host: `localhost:${canonical[service]!}`,
      address,
    }),
  };
}

/** Occupies a port with the test itself. Reports how often it was visited. */
export function occupy(port: number, host = '127.0.0.1'): Promise<{ server: Server; visits: () => number }> {
  let visits = 0;
  const server = createServer((socket) => {
    visits++;
    socket.on('error', () => undefined);
    socket.resume();
    socket.end("I am nobody's service\n");
  });
  atTestEnd(async () => {
    await new Promise((resolve) => server.close(resolve));
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve({ server, visits: () => visits }));
  });
}
