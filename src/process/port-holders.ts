import { closeSync, existsSync, openSync, readdirSync, readFileSync, readlinkSync, readSync } from 'node:fs';
import { endianness } from 'node:os';
import { askSystem } from './ask-system.ts';

/** A socket that listens on a TCP port. */
export interface PortHolder {
  readonly port: number;
  /** As bound: `127.0.0.1`, `::1`, `0.0.0.0`, or `::`, which usually takes IPv4 as well. */
  readonly address: string;
  /** Undefined if it is not visible: a process of another user, or one that has just ended. */
  readonly pid: number | undefined;
}

/**
 * The listeners on these ports, as the kernel reports them. One entry per listening socket; if several processes share
 * it, the first one found. `among` are the pids to check first; the others are checked only if none of these holds the
 * socket.
 */
export function portHolders(
  ports: readonly number[],
  among: Iterable<number> = [],
  scope: 'anybody' | 'among alone' = 'anybody',
): readonly PortHolder[] {
  if (ports.length === 0) return [];
  if (process.platform === 'win32') return holdersFromNetstat(askSystem('netstat', ['-ano']), ports);
  if (!existsSync(TABLES.v4)) {
    return holdersFromLsof(askSystem('lsof', ['-nP', '-iTCP', '-sTCP:LISTEN', '-Fpn']), ports);
  }
  const listeners = Object.values(TABLES).flatMap((file) => listenersIn(wholeText(file), ports));
  const owners = ownersOf(new Set(listeners.map(({ inode }) => inode)), among, scope);
  return listeners.map(({ port, address, inode }) => ({ port, address, pid: owners.get(inode) }));
}

/**
 * By port, a listener that is one of the processes given for it; ports without one are missing. The kernel walks
 * through all sockets of a family, so reading stops once all ports were seen, and the second family is read only for
 * ports missing in the first. A listener missed that way can still be found with `portHolders`, and so can all
 * listeners on systems without such tables.
 */
export function ownHolders(wanted: ReadonlyMap<number, Iterable<number>>): ReadonlyMap<number, PortHolder> {
  const own = new Map<number, PortHolder>();
  for (const file of Object.values(TABLES)) {
    const left = [...wanted.keys()].filter((port) => !own.has(port));
    if (left.length === 0) break;
    for (const { port, address, inode } of listenersUntil(file, left)) {
      const pid = own.has(port) ? undefined : holderAmong(wanted.get(port)!, inode);
      if (pid !== undefined) own.set(port, { port, address, pid });
    }
  }
  return own;
}

function holderAmong(pids: Iterable<number>, inode: string): number | undefined {
  for (const pid of pids) if (holdsSocket(pid, inode)) return pid;
  return undefined;
}

/** All sockets these processes listen on. */
export function heldBy(pids: readonly number[]): readonly PortHolder[] {
  if (pids.length === 0) return [];
  const everyPort = Array.from({ length: 65_535 }, (_, index) => index + 1);
  return portHolders(everyPort, pids, 'among alone').filter(
    ({ pid }) => pid !== undefined && pids.includes(pid),
  );
}

/** The kernel's socket tables, by family. */
const TABLES = { v4: '/proc/net/tcp', v6: '/proc/net/tcp6' } as const;

/**
 * The listeners on these ports, by port, from the table of one family. Empty on systems without the table. Stops after
 * `most` listeners, because every line read costs time, see `linesOf`.
 */
export function listeningOn(
  family: 'v4' | 'v6',
  ports: readonly number[],
  most: number,
): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  for (const line of listenersOf(TABLES[family])) {
    for (const { port, address } of listenersIn(line, ports)) found.set(port, address);
    if (found.size >= most) break;
  }
  return found;
}

interface Listener {
  readonly port: number;
  readonly address: string;
  readonly inode: string;
}

const LISTEN = '0A';

/** Empty on a system without IPv6. */
function wholeText(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return '';
  }
}

/** Reads from the beginning of the file until every port was seen. */
function listenersUntil(file: string, ports: readonly number[]): readonly Listener[] {
  const found: Listener[] = [];
  const missing = new Set(ports);
  for (const line of listenersOf(file)) {
    const here = listenersIn(line, ports);
    found.push(...here);
    for (const { port } of here) missing.delete(port);
    if (missing.size === 0) break;
  }
  return found;
}

/** The listener lines of a table, which come before those of connections. */
function* listenersOf(file: string): Generator<string> {
  let isHeader = true;
  for (const line of linesOf(file)) {
    if (!isHeader && stateIn(line) !== LISTEN) return;
    if (!isHeader) yield line;
    isHeader = false;
  }
}

/** About the length of a line, in bytes. */
const PIECE = 150;

/**
 * The lines of a table, read one by one, because the kernel searches only for as many as requested: after the last
 * listener it walks through a table sized for all possible connections, which takes milliseconds even if there are
 * none. Empty on systems without the file.
 */
function* linesOf(file: string): Generator<string> {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'r');
    const piece = Buffer.alloc(PIECE);
    let text = '';
    for (let read: number; (read = readSync(descriptor, piece, 0, PIECE, null)) > 0;) {
      text += piece.toString('latin1', 0, read);
      for (let end: number; (end = text.indexOf('\n')) !== -1; text = text.slice(end + 1)) {
        yield text.slice(0, end);
      }
    }
  } catch {
    // A system without IPv6.
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function stateIn(line: string): string | undefined {
  return line.trim().split(/\s+/, 4)[3];
}

function listenersIn(text: string, ports: readonly number[]): Listener[] {
  const found: Listener[] = [];
  for (const line of text.split('\n')) {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/);
    const [address = '', hexPort = ''] = local.split(':');
    const port = Number.parseInt(hexPort, 16);
    if (state === LISTEN && ports.includes(port)) found.push({ port, address: readAddress(address), inode });
  }
  return found;
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

function ownersOf(
  inodes: ReadonlySet<string>,
  among: Iterable<number>,
  scope: 'anybody' | 'among alone',
): ReadonlyMap<string, number> {
  const owners = new Map<string, number>();
  const checked = new Set<number>();
  const ask = (pid: number): void => {
    if (checked.has(pid) || owners.size === inodes.size) return;
    checked.add(pid);
    for (const inode of socketsOf(pid)) if (inodes.has(inode) && !owners.has(inode)) owners.set(inode, pid);
  };
  for (const pid of among) ask(pid);
  if (owners.size === inodes.size || scope === 'among alone') return owners;
  for (const name of readdirSync('/proc')) if (/^\d+$/.test(name)) ask(Number(name));
  return owners;
}

function socketsOf(pid: number): string[] {
  return descriptorsOf(pid).flatMap(
    (descriptor) => /^socket:\[(\d+)\]$/.exec(linkOf(pid, descriptor))?.[1] ?? [],
  );
}

/** Servers open their listening socket late, so the highest descriptors are checked first. */
function holdsSocket(pid: number, inode: string): boolean {
  const link = `socket:[${inode}]`;
  const descriptors = descriptorsOf(pid).sort((a, b) => b - a);
  return descriptors.some((descriptor) => linkOf(pid, descriptor) === link);
}

/** Empty for a process that has ended or belongs to another user. */
function descriptorsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map(Number);
  } catch {
    return [];
  }
}

/** Empty if the descriptor was closed meanwhile. */
function linkOf(pid: number, descriptor: number): string {
  try {
    return readlinkSync(`/proc/${pid}/fd/${descriptor}`);
  } catch {
    return '';
  }
}

/** Lines of `p<pid>` and, for each of its sockets, `n<address>:<port>`. */
export function holdersFromLsof(text: string, ports: readonly number[]): PortHolder[] {
  const holders: PortHolder[] = [];
  let pid: number | undefined;
  for (const line of text.split('\n')) {
    if (line.startsWith('p')) pid = Number(line.slice(1));
    if (!line.startsWith('n')) continue;
    const holder = asHolder(line.slice(1), pid);
    if (ports.includes(holder.port)) holders.push(holder);
  }
  return holders;
}

/**
 * Lines of `TCP <local> <remote> LISTENING <pid>`. The state is localized, but only listeners have the remote port 0.
 */
export function holdersFromNetstat(text: string, ports: readonly number[]): PortHolder[] {
  const holders: PortHolder[] = [];
  for (const line of text.split('\n')) {
    const [protocol, local = '', remote = '', , pid] = line.trim().split(/\s+/);
    if (protocol !== 'TCP' || !remote.endsWith(':0')) continue;
    const holder = asHolder(local, Number(pid));
    if (ports.includes(holder.port)) holders.push(holder);
  }
  return holders;
}

function asHolder(local: string, pid: number | undefined): PortHolder {
  const colon = local.lastIndexOf(':');
  const address = local.slice(0, colon).replace(/^\[|\]$/g, '');
  // lsof does not say which wildcard it is.
  return { port: Number(local.slice(colon + 1)), address: address === '*' ? '::' : address, pid };
}
