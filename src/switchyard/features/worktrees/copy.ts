import {
  chmodSync,
  constants,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  type Stats,
} from 'node:fs';
import { join } from 'node:path';
import { setImmediate as breath } from 'node:timers/promises';
import { SwitchboardError } from '../../../shared/errors.ts';
import { draftMark } from '../../records/names.ts';
import { isInside } from '../../records/paths.ts';

/** How long to copy before other tasks get their turn, in milliseconds. */
const GO = 20;

/**
 * Copies a file or directory, and moves the copy into place only when it is complete. Modes and times are kept, so that
 * secrets do not become more readable and builds are not repeated; links are copied as written, wherever they point. On
 * file systems that can share blocks, no data is copied.
 *
 * Not `fs.cp`, which takes twice as long for the many small files of a `node_modules`.
 */
export async function copyWhole(source: string, target: string): Promise<void> {
  if (isInside(source, target)) {
    throw new SwitchboardError('COPY_INTO_ITSELF', `${source} cannot be copied into itself, to ${target}.`, {
      hint: 'Put the worktree elsewhere, or copy fewer files.',
    });
  }
  const draft = `${target}.${draftMark()}.draft`;
  try {
    await copyTree(source, draft);
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
}

async function copyTree(source: string, target: string): Promise<void> {
  const directories: { readonly path: string; readonly like: Stats }[] = [];
  const waiting = [{ source, target }];
  let since = performance.now();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const found = lstatSync(next.source);
    if (found.isSymbolicLink()) symlinkSync(readlinkSync(next.source), next.target);
    else if (found.isDirectory()) {
      mkdirSync(next.target, { mode: 0o700 });
      directories.push({ path: next.target, like: found });
      for (const name of readdirSync(next.source)) {
        waiting.push({ source: join(next.source, name), target: join(next.target, name) });
      }
    } else if (found.isFile()) {
      copyFileSync(next.source, next.target, constants.COPYFILE_FICLONE);
      utimesSync(next.target, found.atime, found.mtime);
    }
    // Sockets, pipes and devices are skipped: they belong to the process that made them.
    if (performance.now() - since > GO) {
      await breath();
      since = performance.now();
    }
  }
  // Innermost first, and at the very end: writing into a directory changes its time, and its mode may forbid writing.
  for (const { path, like } of directories.reverse()) {
    chmodSync(path, like.mode & 0o7777);
    utimesSync(path, like.atime, like.mtime);
  }
}
