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
import { SwitchboardError } from '../../shared/errors.ts';
import { draftMark } from '../names.ts';
import { isInside } from '../state/real-path.ts';

/** So long we copy in one go, in milliseconds; then others have their turn. */
const GO = 20;

/**
 * Copies a file or a directory, and puts the copy in its place only when it is whole. Modes and times stay, so that a
 * secret is not readable for more people than before and a build is not done again; links are copied as they are
 * written, wherever they lead. Where the file system can share blocks, nothing is really copied.
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
  // Innermost first, and last of all: to write into a directory changes its time, and its mode may forbid it.
  for (const { path, like } of directories.reverse()) {
    chmodSync(path, like.mode & 0o7777);
    utimesSync(path, like.atime, like.mtime);
  }
}
