import { spawnSync, type ChildProcess } from 'node:child_process';
import { systemProgram } from '../system-program.ts';

/** Ends a child of ours that runs, and what still descends from it. */
export function endTree(child: ChildProcess): void {
  const args = ['/PID', String(child.pid), '/T', '/F'];
  const { status } = spawnSync(systemProgram('taskkill.exe'), args, { stdio: 'ignore', windowsHide: true });
  // Without taskkill, the child alone.
  if (status !== 0) child.kill('SIGKILL');
}
