import { execFileSync, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { STATE } from './project.mjs';

const running = new Set();
// Nothing that was started here is left behind, whatever happens.
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1));

/** Starts a Node program on three pipes. Its stderr is shown only if it dies. */
export function start(args, cwd) {
  const child = spawn(process.execPath, args, {
    cwd,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, SWITCHBOARD_STATE_DIR: STATE, SWITCHBOARD_ALLOW_PROJECT: '1' },
  });
  running.add(child);
  child.said = '';
  child.stderr.on('data', (chunk) => {
    child.said = (child.said + chunk).slice(-2000);
  });
  child.stdin.on('error', () => undefined);
  child.exited = new Promise((resolve) => {
    child.once('exit', () => {
      running.delete(child);
      resolve();
    });
  });
  return child;
}

/** Ends a program by closing its stdin, or by force if that takes longer than five seconds. */
export async function stop(child) {
  child.stdin.end();
  const force = setTimeout(() => child.kill('SIGKILL'), 5000);
  await child.exited;
  clearTimeout(force);
}

/** Rejects when a promise takes too long, so that a hanging program ends the run instead of holding it up. */
export async function within(ms, what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** CPU time of a process in nanoseconds, summed over its threads; undefined if the system does not report it. */
export function cpuTime(pid) {
  try {
    let sum = 0;
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      sum += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ', 1)[0]);
    }
    return sum;
  } catch {
    return undefined;
  }
}

/** Resident and proportional memory of a process in bytes; undefined if the system does not report it. */
export function memory(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
    const field = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)[1]) * 1024;
    return { rss: field('Rss'), pss: field('Pss') };
  } catch {
    return undefined;
  }
}

/** The direct children of a process: pid and command line. */
export function childrenOf(pid) {
  const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim();
  return pids === '' ? [] : pids.split(' ').map((each) => ({ pid: Number(each), command: commandOf(each) }));
}

function commandOf(pid) {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
}

/**
 * Pins this program, and everything it starts from now on, to one core; returns which one, and a function that undoes
 * it. If that is impossible, nothing changes and `core` is undefined.
 */
export function pin() {
  const core = cpus().length - 1;
  const set = (list) =>
    execFileSync('taskset', ['-a', '-c', '-p', list, String(process.pid)], { stdio: 'ignore' });
  try {
    set(String(core));
    return { core, release: () => set(`0-${core}`) };
  } catch {
    return { core: undefined, release: () => undefined };
  }
}
