import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { asCredentials } from './credentials.ts';
import { parseObject, readLoginFile, refuseOpen } from './login-file.ts';
import { RECORD } from './store.ts';
import { asSummary, summaryOf, type LoginSummary } from './summary.ts';

/** A login without its secrets. */
export interface StoredLogin {
  /** The server's name, or its address if an earlier version has not stored the name. */
  readonly server: string;
  readonly store: 'keychain' | 'file';
  /** When it was made or renewed, as an ISO date. */
  readonly changedAt: string;
}

/** The logins to all servers, sorted by name. Does not query the keychain. */
export function listLogins(directory: string): readonly StoredLogin[] {
  const folder = join(directory, 'auth');
  const found = new Map<string, StoredLogin>();
  // The content of a file is newer than the keychain's, and its name comes later.
  for (const name of namesIn(directory, folder)) {
    const file = join(folder, name);
    const store = name.endsWith(RECORD) ? 'keychain' : 'file';
    try {
      const value = parseObject(readLoginFile(file)?.text ?? '');
      const summary = value && (store === 'keychain' ? asSummary(value) : summaryOfFile(value));
      if (summary?.login === undefined) continue;
      const { key, server, resource } = summary;
      found.set(key, { server: server ?? resource, store, changedAt: statSync(file).mtime.toISOString() });
    } catch {
      // The code that uses the login reports why it cannot be read.
    }
  }
  return [...found.values()].sort((a, b) => (a.server < b.server ? -1 : 1));
}

function summaryOfFile(value: NonNullable<ReturnType<typeof parseObject>>): LoginSummary | undefined {
  const credentials = asCredentials(value);
  return credentials && summaryOf(credentials);
}

function namesIn(directory: string, folder: string): readonly string[] {
  try {
    refuseOpen(directory, folder);
    const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
    return names.sort((a, b) => Number(a.endsWith(RECORD)) - Number(b.endsWith(RECORD))).reverse();
  } catch {
    return [];
  }
}
