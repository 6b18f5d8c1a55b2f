import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { ROOT } from './temp-project.ts';
import { killAll, marker } from './processes.ts';

const isThere = (command: string): boolean => spawnSync(command, ['--version']).error === undefined;

/** Why there can be no keychain here; undefined if there can. */
export const NO_KEYCHAIN =
  process.platform !== 'linux'
    ? 'the Secret Service is for Linux'
    : ['dbus-run-session', 'gnome-keyring-daemon'].find((command) => !isThere(command));

export interface TestKeychain {
  /** The environment for programs that use it. */
  readonly env: Readonly<Record<string, string>>;
  /** The process of the daemon that holds the secrets. */
  readonly pid: number;
  /** What Switchboard has stored there, by account. */
  readonly entries: () => ReadonlyMap<string, string>;
  /** Changes one of them, as another program would. */
  readonly set: (account: string, value: string) => void;
}

/** Starts a desktop session with its own real, unlocked Secret Service. It ends with the test. */
export async function startKeychain(): Promise<TestKeychain> {
  const directory = mkdtempSync(join(tmpdir(), 'switchboard-keychain-'));
  const mark = marker();
  const script =
    'printf test | gnome-keyring-daemon --foreground --unlock --components=secrets >/dev/null & ' +
    'until busctl --user status org.freedesktop.secrets >/dev/null 2>&1 || ' +
    'dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.GetNameOwner ' +
    'string:org.freedesktop.secrets >/dev/null 2>&1; do sleep 0.05; done; ' +
    'echo "$! $DBUS_SESSION_BUS_ADDRESS"; exec cat';
  const session = spawn('dbus-run-session', ['--', 'sh', '-c', script], {
    env: {
      PATH: process.env.PATH,
      HOME: directory,
      XDG_RUNTIME_DIR: directory,
      ...mark.env,
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  onTestFinished(async () => {
    session.kill();
    await killAll(mark);
    rmSync(directory, { recursive: true, force: true });
  });
  const line = await new Promise<string>((resolve, reject) => {
    let said = '';
    session.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('\n')) resolve(said.trim());
    });
    session.on('close', () => reject(new Error('the desktop session ended')));
  });
  const [pid = '', address = ''] = line.split(' ');
  const inside = (script: string): unknown => {
    const program = `import('@napi-rs/keyring').then(({ Entry, findCredentials }) => console.log(JSON.stringify(${script})))`;
    const env = { ...process.env, DBUS_SESSION_BUS_ADDRESS: address };
    const { stdout } = spawnSync(process.execPath, ['-e', program], { cwd: ROOT, env, encoding: 'utf8' });
    return JSON.parse(stdout);
  };
  return {
    pid: Number(pid),
    entries: () => {
      const found = inside("findCredentials('switchboard')") as { account: string; password: string }[];
      return new Map(found.map(({ account, password }) => [account, password]));
    },
    set: (account, value) =>
      void inside(
        `new Entry('switchboard', ${JSON.stringify(account)}).setPassword(${JSON.stringify(value)}) ?? null`,
      ),
    env: { DBUS_SESSION_BUS_ADDRESS: address, SWITCHBOARD_SECRET_STORE: '' },
  };
}
