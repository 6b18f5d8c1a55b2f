import { statSync } from 'node:fs';
import { approvalRecordFile, locateConfig, type LoadedConfig } from '../config/index.ts';

/**
 * Whether a file that our commands change was written after `since`, in milliseconds since the epoch. A gateway reads its
 * configuration before other processes can find and notify it, so changes they write in between would go unnoticed.
 */
export function changedSince(since: number, config: LoadedConfig): boolean {
  const { files, search, servers, unusable } = config;
  const places = new Set([
    ...files.map(({ path }) => path),
    ...[...servers, ...unusable].map(({ origin }) => origin.file),
    ...(search === undefined ? [] : [locateConfig('project', search).path, approvalRecordFile()]),
    ...(search?.userDirectory === undefined ? [] : [locateConfig('user', search).path]),
  ]);
  return [...places].some((path) => writtenAt(path) > since);
}

function writtenAt(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  } catch {
    return 0;
  }
}
