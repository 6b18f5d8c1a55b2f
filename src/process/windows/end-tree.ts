import { spawnSync, type ChildProcess } from 'node:child_process';
import { systemProgram } from '../system-program.ts';

/** Ends a running child of ours and everything that still descends from it. */
export function endTree(child: ChildProcess): void {
  const args = ['/PID', String(child.pid), '/T', '/F'];
  const { status } = spawnSync(systemProgram('taskkill.exe'), args, { stdio: 'ignore', windowsHide: true });
  // Without taskkill, only the child can be ended.
  if (status !== 0) child.kill('SIGKILL');
}
