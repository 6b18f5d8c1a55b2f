import { accessSync, constants, mkdirSync, readdirSync, rmdirSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readProcFile } from './proc-file.ts';
import type { SpawnOptions } from './spawnable.ts';
import { startInCgroup } from './start-in-cgroup.ts';

/**
 * Linux can keep a process and all its descendants in a control group (cgroup v2), which, unlike a session or an
 * environment, they cannot leave. This requires permission to divide our own cgroup, which we have as root, in the
 * user's systemd, and in some containers.
 */
export interface Cgroups {
  /** Our own cgroup, as a directory. */
  readonly directory: string;
  /**
   * Creates the cgroup of a new child. Returns what to start so that the child is in the cgroup before it can start
   * anything itself; undefined if only `add` is possible.
   */
  startIn(name: string, program: SpawnOptions): SpawnOptions | undefined;
  /**
   * Moves a new child to its cgroup in the background, because that takes the system some milliseconds. What the child
   * starts before then stays outside.
   */
  add(name: string, pid: number): void;
  /** Removes the cgroup of a child that has ended. */
  remove(name: string): void;
}

/** Returns undefined if we may not divide our cgroup. */
export function openCgroups(): Cgroups | undefined {
  const directory = cgroupDirectory();
  if (directory === undefined) return undefined;
  removeOld(directory);
  const remove = (name: string, again = true): void => {
    try {
      rmdirSync(join(directory, name));
    } catch {
      // A process that has ended may still be counted. A process that runs is a service that outlives its server.
      if (again) setTimeout(remove, REMOVE_AGAIN, name, false).unref();
    }
  };
  return {
    directory,
    startIn(name, program) {
      try {
        mkdirSync(join(directory, name));
      } catch {
        return undefined;
      }
      return startInCgroup(program, join(directory, name));
    },
    add(name, pid) {
      // A child that has already ended needs no cgroup.
      writeFile(join(directory, name, 'cgroup.procs'), String(pid)).catch(() => remove(name));
    },
    remove: (name) => remove(name),
  };
}

/** Putting a child into a new cgroup never takes this long, in milliseconds. */
const OLD_MS = 60_000;

/** Removes empty cgroups that earlier runs had to leave because services were still in them. */
function removeOld(directory: string): void {
  for (const name of readdirSync(directory)) {
    if (!/^SWITCHBOARD_RUN_[0-9a-f]{16}=/.test(name)) continue;
    try {
      const path = join(directory, name);
      if (Date.now() - statSync(path).mtimeMs > OLD_MS) rmdirSync(path);
    } catch {
      // It contains a process, or another run has removed it.
    }
  }
}

/** The delay before the next attempt to remove a cgroup, in milliseconds. */
const REMOVE_AGAIN = 1000;

/** The directory of our own cgroup; undefined if we may not divide it. */
export function cgroupDirectory(): string | undefined {
  return ownCgroup(readProcFile('/proc/self/cgroup'), ['/sys/fs/cgroup', '/sys/fs/cgroup/unified']);
}

/** `membership` is the text of /proc/self/cgroup; `mounts` are the directories where cgroup v2 may be mounted. */
export function ownCgroup(membership: string, mounts: readonly string[]): string | undefined {
  const path = /^0::(\/.*)$/m.exec(membership)?.[1];
  if (path === undefined) return undefined;
  return mounts.map((mount) => join(mount, path)).find(isWritable);
}

function isWritable(directory: string): boolean {
  try {
    for (const path of [directory, join(directory, 'cgroup.procs')])
      accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
