import { describeProcess, environmentOf, portHolders } from '../../../process/index.ts';
import { printableLine } from '../../../shared/printable.ts';

/** A process that listens on a port of this machine, according to the kernel. */
export interface Listener {
  /** As bound, for example `127.0.0.1` or `::`. */
  readonly address: string;
  /** Null for a process of another user. */
  readonly pid: number | null;
  readonly command: string | null;
  readonly cwd: string | null;
}

/** The listeners that a connection to `localhost` reaches on each of these ports. */
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

/** Whether a listener on this address is reached by a connection to `localhost`. */
export function reachedByLocalhost(address: string): boolean {
  return REACHED_BY_LOCALHOST.has(address);
}

/** For example `pid 4711 (node server.js, in /home/me/shop)`. */
export function describeHolder({ pid, command, cwd }: Listener, more = ''): string {
  if (pid === null) return 'a process of another user';
  if (command === null) return `pid ${pid}`;
  return `pid ${pid} (${shortened(command)}${cwd === null ? '' : `, in ${cwd}`}${more})`;
}

/** The same, with its service if it is one of ours. */
export function describeListener(listener: Listener): string {
  return describeHolder(listener, listener.pid === null ? '' : tellService(listener.pid));
}

/** All listeners on a port, except these processes, as part of a sentence; undefined if there are none. */
export function describeListeners(port: number, except: readonly number[] = []): string | undefined {
  const found = (listenersOn([port]).get(port) ?? []).filter(
    ({ pid }) => pid === null || !except.includes(pid),
  );
  return found.length === 0 ? undefined : [...new Set(found.map(describeListener))].join(' and ');
}

/** A service may listen on the port in its own configuration instead of the assigned one. */
function tellService(pid: number): string {
  const { SWITCHYARD_SERVICE: service, SWITCHYARD_BRANCH: branch } = environmentOf(pid) ?? {};
  return service === undefined || branch === undefined
    ? ''
    : printableLine(`; started as ${service} of ${branch}`);
}

function shortened(command: string): string {
  return command.length <= 120 ? command : `${command.slice(0, 119)}…`;
}
