import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/**
 * The pids that listen on a TCP port, on any address. Reads /proc itself, because the code under test must not judge
 * itself. Linux only.
 */
export function listenersByProc(port: number): number[] {
  const sockets = new Set(
    ['/proc/net/tcp', '/proc/net/tcp6'].flatMap(listening).flatMap((entry) => {
      return entry.port === port ? [`socket:[${entry.inode}]`] : [];
    }),
  );
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && filesOf(pid).some((file) => sockets.has(file)));
}

function listening(table: string): { port: number; inode: string }[] {
  return readFileSync(table, 'utf8')
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[3] === '0A')
    .map((fields) => ({ port: Number.parseInt(fields[1]!.split(':')[1]!, 16), inode: fields[9]! }));
}

function filesOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}
