import { existsSync, readFileSync } from 'node:fs';

/** Whether the system describes its processes in /proc. On Windows, that could be a directory made by anyone. */
export function hasProc(): boolean {
  return process.platform !== 'win32' && existsSync('/proc/self/stat');
}

/** The text of a file in /proc; empty if the process has ended or belongs to another user. */
export function readProcFile(path: string): string {
  if (process.platform === 'win32') return '';
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

/** The value of a variable in an environment, in the format of /proc. */
export function variableIn(environment: string, name: string): string | undefined {
  const start = `\0${environment}`.indexOf(`\0${name}=`);
  return start === -1 ? undefined : environment.slice(start + name.length + 1).split('\0', 1)[0];
}
