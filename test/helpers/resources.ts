import { readdirSync, readFileSync } from 'node:fs';

/** The resident memory of a process, in MB. Linux only. */
export function rss(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** How many files, pipes and sockets a process has open. Linux only. */
export function openFiles(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}
