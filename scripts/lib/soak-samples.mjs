/** The resources of a running process, and whether they grow. Linux only. */
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

/**
 * The growth per hour of values measured at these times (in milliseconds): a least-squares fit to the minimum of each
 * window, because uncollected garbage only ever adds.
 */
export function slopePerHour(points, windows = 20) {
  const [first, last] = [points[0].at, points.at(-1).at];
  const width = (last - first) / windows;
  const lowest = Array.from({ length: windows }, (_, index) => {
    const from = first + index * width;
    const inside = points.filter(({ at }) => at >= from && at <= from + width);
    return {
      at: (from + width / 2 - first) / 3_600_000,
      value: Math.min(...inside.map(({ value }) => value)),
    };
  }).filter(({ value }) => Number.isFinite(value));
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanAt, meanValue] = [mean(lowest.map(({ at }) => at)), mean(lowest.map(({ value }) => value))];
  const product = lowest.reduce((sum, { at, value }) => sum + (at - meanAt) * (value - meanValue), 0);
  return product / lowest.reduce((sum, { at }) => sum + (at - meanAt) ** 2, 0);
}
