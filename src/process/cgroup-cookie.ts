import { readProcFile } from './proc-file.ts';

/** The cookie in the name of a process's cgroup, or of a parent of that cgroup. */
export function cookieOfCgroup(pid: number, cookieName: string): string | undefined {
  const membership = readProcFile(`/proc/${pid}/cgroup`);
  const start = membership.indexOf(`/${cookieName}=`);
  return start === -1 ? undefined : membership.slice(start + cookieName.length + 2).split(/[/\n]/, 1)[0];
}
