/** The resources of a running process. Linux only. */
import { readdirSync, readFileSync } from 'node:fs';

/** Memory in MB, and open file descriptors, of a process. */
export function sample(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  return {
    rss: Number(/^VmRSS:\s+(\d+)/m.exec(status)[1]) / 1024,
    files: readdirSync(`/proc/${pid}/fd`).length,
  };
}

/** The processes with this text in their environment: pid and command line. */
export function processesWith(marker) {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'latin1').includes(marker)) return [];
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      // The command line of a zombie is empty.
      return command === '' ? [] : [{ pid: Number(pid), command }];
    } catch {
      return []; // It has ended meanwhile, or belongs to another user.
    }
  });
}
