import { realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { messageOf } from '../shared/errors.ts';
import { isObject } from '../shared/is-object.ts';
import { isAnyFile } from '../shared/regular-file.ts';
import { childCandidate, mapCandidates, type ServerCandidate, type Warn } from './candidate.ts';
import { ALWAYS_EXCLUDED } from './defaults.ts';
import { findFiles } from './find-files.ts';
import { withConsequence } from './problem.ts';
import type { ProjectApproval } from './project-approval.ts';
import { readJsonFile } from './read.ts';

export interface DiscoverOptions {
  /** Patterns of the files that describe servers, relative to the directory. */
  readonly globs: readonly string[];
  /** Whether the `.mcp.json` of the directory itself is read, too. */
  readonly rootFile: boolean;
  readonly warn: Warn;
  /** Whether a file may be used. If not, only the names of its servers are used. Default: all files may. */
  readonly approval?: ProjectApproval | undefined;
}

/** The servers of the `.mcp.json` files that match the patterns, and of the one in the directory itself. */
export async function discover(
  directory: string,
  { globs, rootFile: wantsRootFile, warn, approval }: DiscoverOptions,
): Promise<ServerCandidate[]> {
  const found = findFiles(globs, {
    directory,
    exclude: ALWAYS_EXCLUDED,
    onUnreadable: (file, error) =>
      warn({ file, message: `cannot be searched: ${messageOf(error)}`, level: 'warn' }),
  });
  const candidates: ServerCandidate[] = [];
  for (const file of found)
    candidates.push(...(await gated(file, approval, warn, (tell) => readCandidates(file, tell))));

  if (!wantsRootFile) return candidates;
  const rootFile = join(resolve(directory), '.mcp.json');
  if (!found.includes(rootFile) && isAnyFile(rootFile)) {
    candidates.push(...(await gated(rootFile, approval, warn, (tell) => rootCandidates(rootFile, tell))));
  }
  return candidates;
}

/** The servers of a file. If it is not allowed yet, they are marked as such and its problems are not reported. */
async function gated(
  file: string,
  approval: ProjectApproval | undefined,
  warn: Warn,
  read: (warn: Warn) => Promise<ServerCandidate[]>,
): Promise<ServerCandidate[]> {
  if (approval === undefined) return read(warn);
  // What is allowed is the file at its real path: through a link, `..` in it would lead elsewhere.
  if (approval.allows(file))
    return (await read(warn)).map((each) => ({ ...each, directory: realpathSync(each.directory) }));
  return (await read(() => undefined)).map((candidate) => ({ ...candidate, notAllowed: true }));
}

async function rootCandidates(file: string, warn: Warn): Promise<ServerCandidate[]> {
  const value = readOrWarn(file, warn);
  if (isObject(value) && 'mcpServers' in value) return mapCandidates(file, value.mcpServers, warn);
  if (value !== undefined) warn({ file, message: 'has no "mcpServers" and is ignored', level: 'info' });
  return [];
}

async function readCandidates(file: string, warn: Warn): Promise<ServerCandidate[]> {
  const value = readOrWarn(file, warn);
  if (value === undefined) return [];
  if (isObject(value) && 'mcpServers' in value) return mapCandidates(file, value.mcpServers, warn);
  const candidate = await childCandidate(file, value, warn);
  return candidate === undefined ? [] : [candidate];
}

function readOrWarn(file: string, warn: Warn): unknown {
  try {
    return readJsonFile(file, warn);
  } catch (error) {
    // The message already begins with the file, with line and column if known.
    warn({ message: withConsequence(messageOf(error), 'the file is skipped'), level: 'warn' });
    return undefined;
  }
}
