import { closeSync, existsSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs';
import { endianness } from 'node:os';
import { askSystem } from './ask-system.ts';

/** A socket that listens on a TCP port. */
export interface PortHolder {
  readonly port: number;
  /** The bound address: `127.0.0.1`, `::1`, `0.0.0.0`, or `::`, which usually accepts IPv4 as well. */
  readonly address: string;
  /** Undefined if it is not visible: the process belongs to another user, or has just ended. */
  readonly pid: number | undefined;
}

/**
 * The listeners on these ports, as the kernel reports them. One entry per listening socket; if several processes share
 * it, the first one found. `likely` are the pids to check first; others are checked only if none of these holds the
 * socket.
 */
export function portHolders(ports: readonly number[], likely: Iterable<number> = []): readonly PortHolder[] {
  if (ports.length === 0) return [];
  if (!hasTables()) return holdersElsewhere().filter(({ port }) => ports.includes(port));
  const sockets = [...listeningSockets()].filter(({ port }) => ports.includes(port));
  const owners = ownersOf(new Set(sockets.map(({ inode }) => inode)), likely);
  return sockets.map(({ port, address, inode }) => ({ port, address, pid: owners.get(inode) }));
}

/**
 * The sockets that these processes listen on. A socket that several share appears once for each. Default: all ports.
 * With `ports`, the search ends once each port has a socket: the kernel takes milliseconds for IPv6, and most servers
 * listen on IPv4.
 */
export function heldBy(
  pids: readonly number[],
  ports?: readonly number[],
): readonly (PortHolder & { readonly pid: number })[] {
  if (pids.length === 0) return [];
  if (!hasTables())
    return holdersElsewhere().flatMap(({ port, address, pid }) =>
      pid !== undefined && pids.includes(pid) ? [{ port, address, pid }] : [],
    );
  const sockets = pids.map((pid) => ({ pid, inodes: new Set(socketsOf(pid)) }));
  const found: (PortHolder & { readonly pid: number })[] = [];
  const missing = new Set(ports);
  for (const { port, address, inode } of listeningSockets()) {
    for (const { pid, inodes } of sockets) {
      if (!inodes.has(inode)) continue;
      found.push({ port, address, pid });
      missing.delete(port);
    }
    if (ports !== undefined && missing.size === 0) break;
  }
  return found;
}

interface ListeningSocket {
  readonly port: number;
  readonly address: string;
  readonly inode: string;
}

/** The kernel's socket tables, IPv4 first. */
const TABLES = ['/proc/net/tcp', '/proc/net/tcp6'] as const;
/** A table line in state 0A: local address and port and, five columns later, the inode. */
const LISTENING = /^ *\d+: ([\dA-F]+):([\dA-F]{4}) \S+ 0A \S+ \S+ \S+ +\d+ +\d+ (\d+) /gm;

function hasTables(): boolean {
  return existsSync(TABLES[0]);
}

function* listeningSockets(): Generator<ListeningSocket> {
  for (const table of TABLES) {
    for (const [, address = '', port = '', inode = ''] of readListeners(table).matchAll(LISTENING))
      yield { port: Number.parseInt(port, 16), address: readAddress(address), inode };
  }
}

/** A table line in any other state. */
const CONNECTED = /^ *\d+: \S+ \S+ (?!0A)[\dA-F]{2} /m;

/**
 * The beginning of a table, with all its listeners. The kernel lists them before connections, so reading stops there:
 * of the 42 ms of CPU that `brief` takes, reading on would add 3 with few connections, and 7 with 2000. Empty on a
 * system without IPv6.
 */
function readListeners(table: string): string {
  const block = Buffer.alloc(4096);
  let text = '';
  let file: number | undefined;
  try {
    file = openSync(table, 'r');
    while (!CONNECTED.test(text)) {
      const length = readSync(file, block);
      if (length === 0) break;
      text += block.toString('latin1', 0, length);
    }
  } catch {
    return '';
  } finally {
    if (file !== undefined) closeSync(file);
  }
  return text;
}

/** The kernel writes words of four bytes in the byte order of the machine. */
function readAddress(hex: string): string {
  const bytes = Buffer.from(hex, 'hex');
  if (endianness() === 'LE') bytes.swap32();
  if (bytes.length === 4) return [...bytes].join('.');
  const groups = Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(at * 2).toString(16)).join(':');
  if (groups.startsWith('0:0:0:0:0:ffff:')) return `::ffff:${[...bytes.subarray(12)].join('.')}`;
  // URL produces the short form.
  return new URL(`http://[${groups}]`).hostname.slice(1, -1);
}

function ownersOf(inodes: ReadonlySet<string>, likely: Iterable<number>): ReadonlyMap<string, number> {
  const owners = new Map<string, number>();
  for (const pid of candidates(likely)) {
    if (owners.size === inodes.size) break;
    for (const inode of socketsOf(pid)) if (inodes.has(inode) && !owners.has(inode)) owners.set(inode, pid);
  }
  return owners;
}

function* candidates(likely: Iterable<number>): Generator<number> {
  yield* likely;
  for (const name of readdirSync('/proc')) if (/^\d+$/.test(name)) yield Number(name);
}

/** The inodes of all sockets of a process. Empty if it has ended or belongs to another user. */
function socketsOf(pid: number): string[] {
  let descriptors: string[];
  try {
    descriptors = readdirSync(`/proc/${pid}/fd`);
  } catch {
    return [];
  }
  return descriptors.flatMap(
    (descriptor) => /^socket:\[(\d+)\]$/.exec(linkOf(`/proc/${pid}/fd/${descriptor}`))?.[1] ?? [],
  );
}

/** Empty if the descriptor was closed meanwhile. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

/** The same on systems without socket tables. */
function holdersElsewhere(): PortHolder[] {
  return holdersFromLsof(askSystem('lsof', ['-nP', '-iTCP', '-sTCP:LISTEN', '-Fpn']));
}

/** Parses lines of `p<pid>` and, for each of its sockets, `n<address>:<port>`. */
export function holdersFromLsof(text: string): PortHolder[] {
  const holders: PortHolder[] = [];
  let pid: number | undefined;
  for (const line of text.split('\n')) {
    if (line.startsWith('p')) pid = Number(line.slice(1));
    if (line.startsWith('n')) holders.push(asHolder(line.slice(1), pid));
  }
  return holders;
}

function asHolder(local: string, pid: number | undefined): PortHolder {
  const colon = local.lastIndexOf(':');
  const address = local.slice(0, colon).replace(/^\[|\]$/g, '');
  // lsof does not say which wildcard address it is.
  return { port: Number(local.slice(colon + 1)), address: address === '*' ? '::' : address, pid };
}
