import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { killAll, marker } from './processes.ts';

const isThere = (command: string): boolean => spawnSync(command, ['--version']).error === undefined;

/** Why there can be no keychain here; undefined where there can be one. */
export const NO_KEYCHAIN =
  process.platform !== 'linux'
    ? 'the Secret Service is for Linux'
    : ['dbus-run-session', 'gnome-keyring-daemon'].find((command) => !isThere(command));

export interface TestKeychain {
  /** For programs that are to find it. */
  readonly env: Readonly<Record<string, string>>;
  /** Of the daemon that holds the secrets. */
  readonly pid: number;
}

/** Starts a desktop session with a real, unlocked Secret Service of its own. It ends with the test. */
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
  return {
    pid: Number(pid),
    env: { DBUS_SESSION_BUS_ADDRESS: address, SWITCHBOARD_SECRET_STORE: '' },
  };
}
