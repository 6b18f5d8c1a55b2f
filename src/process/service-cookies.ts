import { readRegularFile } from '../shared/regular-file.ts';
import { variableIn } from './proc-file.ts';

/**
 * The environment variable with the cookies of the services and daemons that Switchyard starts. All descendants inherit
 * it, including those that leave the session. These processes are meant to outlive the one that started them, so the
 * cleanup after a server must not treat them as part of it.
 */
export const SERVICE_COOKIE = 'SWITCHYARD_COOKIE';
export const DAEMON_COOKIE = 'SWITCHYARD_DAEMON';

/** A hash of the home and a random value. */
const COOKIE = /^[0-9a-f]{8}\.[0-9a-f]{32}$/;

/**
 * Determines from its environment, as /proc shows it, whether a process belongs to such a service or daemon. The cookie
 * alone proves nothing: it must be in the records of the home that the process names. Records are read at most once.
 */
export function createServiceProof(): (environment: string) => boolean {
  const records = new Map<string, string>();
  const recordsIn = (home: string): string => {
    const known = records.get(home) ?? readRecords(home);
    records.set(home, known);
    return known;
  };
  return (environment) =>
    [SERVICE_COOKIE, DAEMON_COOKIE].some((name) => {
      const cookie = variableIn(environment, name);
      if (cookie === undefined || !COOKIE.test(cookie)) return false;
      const home = variableIn(environment, 'SWITCHYARD_HOME');
      return home?.startsWith('/') === true && recordsIn(home).includes(`"${cookie}"`);
    });
}

/** The same limit with which Switchyard reads its records. */
const MAX_BYTES = 64 * 1024 * 1024;

function readRecords(home: string): string {
  try {
    // The path is kept as the bytes that are in the environment.
    const file = Buffer.from(`${home}/state.json`, 'latin1');
    return readRegularFile(file, { maxBytes: MAX_BYTES }).toString('latin1');
  } catch {
    return '';
  }
}
