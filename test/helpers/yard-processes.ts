import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { environmentOf, shapeProgram, SHAPES } from '../servers/shapes/watch.ts';
import { atTestEnd } from './cleanup.ts';
import { alive } from './processes.ts';
import { ROOT } from './temp-project.ts';
import { until } from './until.ts';
import { freePort } from './yard-home.ts';
import { createYard, type TestYard } from './yard.ts';

/** The command of one of the programs in test/services. */
export function serviceCommand(name: string, ...args: readonly string[]): string {
  return ['node', join(ROOT, 'test/services', `${name}.mjs`), ...args].join(' ');
}

/** A yard with these lines of `switchyard.toml`; its services get ports from 24000 on. */
export async function processYard(
  services: string,
  files: Readonly<Record<string, string | object>> = {},
): Promise<TestYard> {
  const toml = `[project]\nname = "shop"\n[proxy]\nport = ${await freePort()}\n[ports]\nstart = 24000\nend = 24999\n`;
  return createYard({ toml: toml + services, files });
}

/** One service for each of the nine shapes, with a real server as its innermost process. */
export function shapeServices(): string {
  const web = serviceCommand('plain-http');
  return SHAPES.map(
    (shape) =>
      `[services.${shape}]\ncommand = "node ${shapeProgram} ${shape} -- ${web}"\nready_timeout = 60\n`,
  ).join('');
}

/** `up` and `down` of all shapes: all respond, then no process is left. */
export async function shapesComeAndGo(yard: TestYard): Promise<void> {
  const up = await yard.ask('up');
  const answers: { service: string; pid: number }[] = await Promise.all(
    up.outcomes.map(async ({ port }: { port: number }) =>
      (await fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } })).json(),
    ),
  );
  expect(answers.map(({ service }) => service)).toEqual([...SHAPES]);
  const down = await yard.ask('down');
  expect(yard.living()).toEqual([]);
  expect(answers.filter(({ pid }) => alive(pid))).toEqual([]);
  const said = SHAPES.map((shape) =>
    shape === 'ignores-term' ? `${shape} ignored SIGTERM and was killed` : `stopped ${shape}`,
  );
  expect(down.messages).toEqual(said);
}

/** All processes of services according to /proc: the marker identifies this yard, the cookie the start. */
export function serviceProcesses(yard: TestYard): { pid: number; service: string; cookie: string }[] {
  return yard.living().flatMap(({ pid }) => {
    const variables = environmentOf(pid).split('\0');
    const of = (name: string): string | undefined =>
      variables.find((text) => text.startsWith(`${name}=`))?.slice(name.length + 1);
    const cookie = of('SWITCHYARD_COOKIE');
    return cookie === undefined ? [] : [{ pid, cookie, service: of('SWITCHYARD_SERVICE') ?? '' }];
  });
}

/** Eight that only run, one that responds, and one that is started after that. For `up --no-wait`. */
export const TEN_SERVICES = [
  ...Array.from({ length: 8 }, (_, at) => `[services.s${at}]\ncommand = "sleep 86400"\n`),
  `[services.s8]\ncommand = "${serviceCommand('plain-http')}"\nready_timeout = 60\n`,
  '[services.s9]\ncommand = "sleep 86400"\ndepends_on = ["s8"]\n',
].join('');

export interface KillRound {
  /** When to kill `up`: in milliseconds after its start, or after its intent is in the file. */
  readonly after: number;
  readonly from: 'start' | 'intent';
  /**
   * Whether to run `status` in between; otherwise `down` follows immediately, while the last services are being
   * started.
   */
  readonly look: boolean;
}

/** Kills an `up` and returns how many services ran. Checks that all of them are known, and that `down` stops them. */
export async function killedUp(yard: TestYard, { after, from, look }: KillRound): Promise<number> {
  const child = yard.start(['up', '--no-wait']);
  child.stdout?.resume();
  child.stderr?.resume();
  const exit = once(child, 'exit');
  let over = false;
  void exit.then(() => (over = true));
  if (from === 'intent') await until(() => over || hasIntent(yard), { every: 1, deadline: 60_000 });
  await sleep(after);
  child.kill('SIGKILL');
  await exit;
  const found = look ? await everybodyIsKnown(yard) : new Set(cookiesOf(yard)).size;
  const down = await yard.run(['down', '--json']);
  expect(down.code, down.stdout + down.stderr).toBe(0);
  expect(yard.living()).toEqual([]);
  expect(servicesOnRecord(yard)).toEqual({});
  return found;
}

/** Runs `status` and compares it with /proc. Returns the number of running services. */
export async function everybodyIsKnown(yard: TestYard): Promise<number> {
  // A process that was just forked shows our own environment until it has become the service.
  await until(() => serviceProcesses(yard).length === yard.living().length, {
    what: 'every process to show its cookie',
    seen: () => JSON.stringify(yard.living()),
  });
  const before = cookiesOf(yard);
  const { services } = await yard.ask('status');
  const running = services.filter((service: any) => service.status === 'running');
  const known = new Map<string, number>(running.map(({ cookie, pid }: any) => [cookie, pid]));
  expect(before.filter((cookie) => !known.has(cookie))).toEqual([]);
  for (const { cookie, pid } of running) {
    const members = serviceProcesses(yard).filter((each) => each.cookie === cookie);
    expect(members.map((each) => each.pid)).toContain(pid);
  }
  expect(services.filter((service: any) => service.status === 'unverified')).toEqual([]);
  return known.size;
}

function cookiesOf(yard: TestYard): string[] {
  return serviceProcesses(yard).map(({ cookie }) => cookie);
}

function hasIntent(yard: TestYard): boolean {
  return Object.values(servicesOnRecord(yard)).some(({ pid }) => pid === null);
}

export function stateFile(yard: TestYard): string {
  return join(yard.home, 'state.json');
}

export function readState(yard: TestYard): any {
  return JSON.parse(readFileSync(stateFile(yard), 'utf8'));
}

function servicesOnRecord(yard: TestYard): Record<string, { pid: number | null }> {
  try {
    return readState(yard).projects[yard.dir]?.services ?? {};
  } catch {
    return {}; // There is none yet.
  }
}

/** A process of the test, leader of its own session and group like every service, that reports the signals it gets. */
export interface Stranger {
  readonly pid: number;
  readonly startTime: number;
  /** The signals it got until now; `exit` when it is gone. */
  readonly signals: string[];
}

export async function stranger(): Promise<Stranger> {
  const child = spawn(process.execPath, [join(ROOT, 'test/services/records-signals.mjs')], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const signals: string[] = [];
  let ready = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    for (const line of text.split('\n').filter((each) => each !== '')) {
      if (line === 'ready') ready = true;
      else signals.push(line);
    }
  });
  child.once('exit', () => signals.push('exit'));
  atTestEnd(() => {
    child.kill('SIGKILL');
    return Promise.resolve();
  });
  await until(() => ready, { deadline: 30_000, what: 'a stranger' });
  const stat = readFileSync(`/proc/${child.pid}/stat`, 'latin1');
  const startTime = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
  return { pid: child.pid!, startTime, signals };
}

/** Why a record that names another process is wrong, and what `status` must report. */
export const WRONG_RECORDS = [
  { why: 'the pid was given to somebody younger', life: 'stale', change: (it: { process_started_at: number }) => ({ process_started_at: it.process_started_at - 1 }) }, // prettier-ignore
  { why: 'the start time is later than that of the process', life: 'stale', change: (it: { process_started_at: number }) => ({ process_started_at: it.process_started_at + 1 }) }, // prettier-ignore
  {
    why: 'pid and start time are right, but nobody carries the cookie',
    life: 'unverified',
    change: () => ({}),
  },
  { why: 'pid and start time are right, and there is no cookie', life: 'unverified', change: () => ({ cookie: undefined }) }, // prettier-ignore
  { why: 'only the pid is known', life: 'unverified', change: () => ({ cookie: undefined, process_started_at: undefined, boot_id: undefined }) }, // prettier-ignore
  { why: 'it is of another boot', life: 'stale', change: () => ({ boot_id: '00000000-0000-4000-8000-000000000000' }) }, // prettier-ignore
] as const;

/** The commands that read records and may signal. */
const COMMANDS = [['down'], ['down', '--force'], ['up'], ['restart']] as const;

/** A record as `up` writes it, to be made wrong. Call it when nothing runs. */
export async function recordTemplate(yard: TestYard): Promise<any> {
  await yard.ask('up');
  const record = Object.values<any>(readState(yard).projects[yard.dir].services)[0];
  await yard.ask('down');
  return record;
}

/**
 * Writes one wrong record per stranger, runs a command on them, and returns how many there were. `round` selects what
 * is wrong and which command is run.
 */
export async function staleTrial(
  yard: TestYard,
  { template, strangers, round }: { template: any; strangers: readonly Stranger[]; round: number },
): Promise<number> {
  const command = COMMANDS[round % COMMANDS.length]!;
  const state = readState(yard);
  const wrong = strangers.map(({ pid, startTime }, at) => {
    const { life, change } = WRONG_RECORDS[(round + at) % WRONG_RECORDS.length]!;
    // The first is the service that is configured, for `up` and `restart`.
    const service = at === 0 ? template.service : `gone${at}`;
    const right = { ...template, service, pid, pgid: pid, process_started_at: startTime };
    return { life, record: { ...right, ...change(right) } };
  });
  state.projects[yard.dir].services = Object.fromEntries(
    wrong.map(({ record }) => [`${record.branch}::${record.service}`, record]),
  );
  writeFileSync(stateFile(yard), JSON.stringify(state));
  const { services } = await yard.ask('status');
  const seen = new Map(services.map(({ service, status }: any) => [service, status]));
  expect(wrong.map(({ record }) => seen.get(record.service))).toEqual(wrong.map(({ life }) => life));
  await yard.run([...command, '--json']);
  expect(strangers.flatMap(({ signals }) => signals)).toEqual([]);
  expect(strangers.filter(({ pid }) => !alive(pid))).toEqual([]);
  const kept = Object.values<any>(readState(yard).projects[yard.dir].services);
  if (command[0] === 'down') {
    const left = command.length > 1 ? [] : wrong.filter(({ life }) => life === 'unverified');
    const names = left.map(({ record }) => record.service);
    expect(kept.map(({ service }) => service).sort()).toEqual(names.sort());
  }
  // Restarted services end before their records are overwritten.
  await yard.ask('down', '--force');
  expect(yard.living()).toEqual([]);
  expect(strangers.flatMap(({ signals }) => signals)).toEqual([]);
  return wrong.length;
}
