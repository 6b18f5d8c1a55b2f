import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { alive } from '../../../test/helpers/processes.ts';
import { until } from '../../../test/helpers/until.ts';
import { watcherProgram } from './watcher-program.ts';

const FOREVER = ['-e', 'setInterval(() => undefined, 1000)'];

function started(args: readonly string[], env?: Record<string, string>): ChildProcess {
  const child = spawn(process.execPath, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: env ?? process.env,
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/**
 * The watcher with a `wmic` that runs this script. On other systems, the path of a Windows program is just a name with
 * backslashes.
 */
function watcherWith(wmic: string, folder: string): ChildProcess {
  const root = join(folder, 'windows');
  const program = `${root}\\System32\\wbem\\wmic.exe`;
  writeFileSync(program, `#!/bin/sh\ncd '${folder}'\n${wmic}\n`);
  chmodSync(program, 0o755);
  return started(['-e', watcherProgram()], { SystemRoot: root, PATH: process.env['PATH'] ?? '' });
}

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-watcher-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const table = (...rows: readonly (readonly [parent: number, pid: number])[]): string =>
  ['ParentProcessId,ProcessId', ...rows.map((row) => row.join(','))].join('\\n');

test.skipIf(process.platform === 'win32')(
  'what is left is ended even if the system does not answer at first',
  async () => {
    const [folder, server] = [temporary(), started(FOREVER)];
    const pid = server.pid!;
    const rows = table([process.pid, pid]);
    const watcher = watcherWith(
      `echo x >> asked; if [ "$(wc -l < asked)" -le 4 ]; then exit 1; fi\n` +
        `if kill -0 ${pid} 2>/dev/null; then printf '${rows}\\n'; else printf '${table([0, 1])}\\n'; fi`,
      folder,
    );
    watcher.stdin?.end(`enlist ${pid} ${Date.now()}\n`);
    await until(() => !alive(pid), { what: 'the server to be ended' });
    await until(() => watcher.exitCode === 0, { what: 'the watcher to exit' });
  },
);

test.skipIf(process.platform === 'win32')(
  'a look without an answer tells what was known last, without what is gone',
  async () => {
    const [folder, server] = [temporary(), started(FOREVER)];
    const pid = server.pid!;
    const watcher = watcherWith('cat answer', folder);
    let said = '';
    watcher.stdout?.on('data', (chunk: Buffer) => (said += String(chunk)));
    let count = 0;
    const look = async (rows: readonly (readonly [number, number])[]): Promise<string> => {
      writeFileSync(join(folder, 'answer'), rows.length === 0 ? '' : table(...rows).replaceAll('\\n', '\n'));
      count += 1;
      watcher.stdin?.write('look\n');
      return until(() => new RegExp(`^looked ${count} (.*)$`, 'm').exec(said)?.[1]);
    };
    watcher.stdin?.write(`enlist ${pid} ${Date.now()}\n`);
    const member = 2 ** 30;
    expect(
      await look([
        [process.pid, pid],
        [pid, member],
      ]),
    ).toBe(`${pid}:${pid},${member}`);
    expect(await look([])).toBe(`${pid}:${pid},${member}`);
    expect(await look([[process.pid, pid]])).toBe(`${pid}:${pid}`);
    expect(await look([])).toBe(`${pid}:${pid}`);
    watcher.stdin?.write('dismiss\n');
    await until(() => watcher.exitCode === 0, { what: 'the watcher to exit' });
    expect(alive(pid)).toBe(true);
  },
);
