import { describeProcess, environmentOf, portHolders } from '../../process/index.ts';
import { printableLine } from '../../shared/printable.ts';

/** Somebody who listens on a port of this machine, as the kernel tells it. */
export interface Listener {
  /** As bound, for example `127.0.0.1` or `::`. */
  readonly address: string;
  /** Null for a process of another user. */
  readonly pid: number | null;
  readonly command: string | null;
  readonly cwd: string | null;
}

/** Who answers a connection to `localhost` on each of these ports. */
export function listenersOn(
  ports: readonly number[],
  among?: Iterable<number>,
): ReadonlyMap<number, readonly Listener[]> {
  const found = new Map<number, Listener[]>(ports.map((port) => [port, []]));
  for (const { port, address, pid } of portHolders(ports, among)) {
    if (!reachedByLocalhost(address)) continue;
    const described = pid === undefined ? undefined : describeProcess(pid);
    found.get(port)?.push({
      address,
      pid: pid ?? null,
      command: described?.command ?? null,
      cwd: described?.cwd ?? null,
    });
  }
  return found;
}

const REACHED_BY_LOCALHOST = new Set([
  '127.0.0.1',
  '::1',
  '0.0.0.0',
  '::',
  '::ffff:127.0.0.1',
  '::ffff:0.0.0.0',
]);

/** Whether who is bound to this address answers a connection to `localhost`. */
export function reachedByLocalhost(address: string): boolean {
  return REACHED_BY_LOCALHOST.has(address);
}

/** For example `pid 4711 (node server.js, in /home/me/shop)`. */
export function describeHolder({ pid, command, cwd }: Listener, more = ''): string {
  if (pid === null) return 'a process of another user';
  if (command === null) return `pid ${pid}`;
  return `pid ${pid} (${shortened(command)}${cwd === null ? '' : `, in ${cwd}`}${more})`;
}

/** The same of somebody who is in the way: it may be a service of ours. */
export function describeListener(listener: Listener): string {
  return describeHolder(listener, listener.pid === null ? '' : tellService(listener.pid));
}

/** A service that does not listen on the port it was given, but on the one in its own configuration. */
function tellService(pid: number): string {
  const { SWITCHYARD_SERVICE: service, SWITCHYARD_BRANCH: branch } = environmentOf(pid) ?? {};
  return service === undefined || branch === undefined
    ? ''
    : printableLine(`; started as ${service} of ${branch}`);
}

function shortened(command: string): string {
  return command.length <= 120 ? command : `${command.slice(0, 119)}…`;
}
