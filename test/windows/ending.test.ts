/** Every way in which a gateway or a server ends, on Windows and elsewhere, and that nothing of the server is left. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import {
  parseProcessTable,
  TABLE_QUERIES,
  type TableEntry,
} from '../../src/process/windows/process-table.ts';
import { startGateway, type TestGateway } from '../helpers/gateway.ts';
import { startHttpGateway } from '../helpers/http-gateway.ts';
import { startMux } from '../helpers/management.ts';
import { alive } from '../helpers/processes.ts';
import { textOf } from '../helpers/raw-client.ts';
import { createProject, serverPath, type ServerCommand } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';
import { batchFile, httpSession, importing, isWindows } from './machine.ts';

const PATIENT = { deadline: 45_000 };
const STUBBORN = serverPath('stubborn');

/** A server that ignores the end of its stdin, started by a batch file, so by cmd.exe. */
function behindBatch(): ServerCommand {
  return { command: batchFile(createProject(), 'stubborn', importing(STUBBORN)), args: [] };
}

/** The same two processes further away: as npx does it, Node starts cmd.exe, which starts Node. */
function behindNpx(): ServerCommand {
  const project = createProject();
  const inner = batchFile(project, 'inner', importing(STUBBORN));
  const npx = `require('node:child_process').spawn(${JSON.stringify(`"${inner}"`)}, { shell: true, stdio: 'inherit', windowsHide: true });`;
  return { command: process.execPath, args: [project.write('npx.js', npx)] };
}

/** A server whose first process leaves as soon as the second runs. */
function orphaned(): ServerCommand {
  const project = createProject();
  const leaver = `const { spawn } = require('node:child_process');
    spawn(process.execPath, [${JSON.stringify(STUBBORN)}], { stdio: 'inherit', detached: true, windowsHide: true }).unref();
    setTimeout(() => process.exit(0), 1500);`;
  return { command: process.execPath, args: [project.write('leaver.js', leaver)] };
}

/** The innermost process of a running server. */
async function innermost({ call }: TestGateway, server: string): Promise<number> {
  return watched(Number(textOf(await call(server, 'pid'))));
}

/** A running process, which is ended with the test whatever becomes of it. */
function watched(pid: number): number {
  onTestFinished(() => {
    if (alive(pid)) process.kill(pid, 'SIGKILL');
  });
  expect(alive(pid)).toBe(true);
  return pid;
}

function processTable(): readonly TableEntry[] {
  for (const { program, args } of TABLE_QUERIES) {
    const file = join(process.env['SystemRoot'] ?? '', 'System32', program);
    const { stdout } = spawnSync(file, args, { windowsHide: true }) as { stdout: Buffer | null };
    const table = parseProcessTable(stdout ?? Buffer.alloc(0));
    if (table.length > 0) return table;
  }
  return [];
}

async function untilGone(pid: number): Promise<void> {
  await until(() => !alive(pid), { deadline: 40_000, what: `process ${pid} to be gone` });
}

/** The watcher looks a second after a start, and a busy machine takes its time. */
const LOOKED = 6000;

/** As the Task Manager does it; elsewhere, SIGKILL. */
function killNow(pid: number): void {
  if (isWindows) expect(taskkill('/F', '/PID', String(pid))).toBe(0);
  else process.kill(pid, 'SIGKILL');
}

function taskkill(...args: string[]): number | null {
  return spawnSync('taskkill', args, { stdio: 'ignore', windowsHide: true }).status;
}

test('the end of stdin ends the gateway and every process of its servers', async () => {
  const gateway = await startGateway({ batch: behindBatch(), npx: behindNpx() }, PATIENT);
  const pids = [await innermost(gateway, 'batch'), await innermost(gateway, 'npx')];
  expect((await gateway.client.close()).code).toBe(0);
  for (const pid of pids) await untilGone(pid);
});

test('a killed gateway leaves nothing of a server behind a batch file', async () => {
  const gateway = await startGateway({ batch: behindBatch() }, PATIENT);
  const pid = await innermost(gateway, 'batch');
  killNow(gateway.client.pid!);
  await gateway.client.exited;
  await untilGone(pid);
});

test('a killed gateway leaves nothing of a server whose parents all end with it', async () => {
  const gateway = await startGateway({ npx: behindNpx() }, PATIENT);
  const pid = await innermost(gateway, 'npx');
  await sleep(LOOKED);
  killNow(gateway.client.pid!);
  await gateway.client.exited;
  await untilGone(pid);
});

test('a killed gateway that serves HTTP leaves nothing of its servers', async () => {
  const gateway = await startHttpGateway({ batch: behindBatch() });
  const request = await httpSession(gateway);
  const params = { name: 'batch_suite', arguments: { action: 'call', subtool: 'pid', args: {} } };
  const pid = watched(Number(/"text":"(\d+)"/.exec(await request('tools/call', params))?.[1]));
  killNow(gateway.pid);
  await untilGone(pid);
});

test.runIf(isWindows)('a watcher that is killed is started again', async () => {
  const gateway = await startGateway({ batch: behindBatch() }, PATIENT);
  const pid = await innermost(gateway, 'batch');
  const watcherOf = (): number | undefined => {
    const table = processTable();
    const server = table.find((entry) => entry.pid === pid);
    return table.find(({ parent, pid: each }) => parent === gateway.client.pid && each !== server?.parent)
      ?.pid;
  };
  const first = await until(watcherOf, { deadline: 30_000, what: 'the watcher' });
  process.kill(first, 'SIGKILL');
  const another = (): boolean => ![undefined, first].includes(watcherOf());
  await until(another, { deadline: 30_000, every: 500, what: 'another watcher' });
  killNow(gateway.client.pid!);
  await untilGone(pid);
});

test('what a server left that exited is ended', async () => {
  const gateway = await startGateway({ orphaned: orphaned() }, PATIENT);
  await untilGone(await innermost(gateway, 'orphaned'));
});

test.runIf(isWindows)('taskkill without /F asks a window to close, and a gateway has none', async () => {
  const gateway = await startGateway({ batch: behindBatch() }, PATIENT);
  const pid = await innermost(gateway, 'batch');
  taskkill('/PID', String(gateway.client.pid));
  expect(Number(textOf(await gateway.call('batch', 'pid')))).toBe(pid);
  await gateway.client.close();
  await untilGone(pid);
});

test('a server that is removed is gone with all its processes when that is answered', async () => {
  const mux = await startMux(PATIENT);
  const { command, args } = behindNpx();
  await mux.added('npx', { command, args: [...args] });
  const pid = Number(textOf(await mux.client.call('npx__pid')));
  await mux.remove('npx');
  expect(alive(pid)).toBe(false);
});
