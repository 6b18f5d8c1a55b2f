/** The golden files as import sources: the result of importing golden/<host>/<case>.before.txt is in .imported.txt. */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { HOSTS } from './catalog.ts';
import { convertServer } from './convert.ts';
import type { Host, HostEnvironment } from './host.ts';
import { readServers } from './read-servers.ts';

const GOLDEN = join(import.meta.dirname, 'golden');

/** The import of a file with this text, each server in our own keys; the temporary directory is shown as HOME. */
function imported(host: Host, text: string, platform: NodeJS.Platform): string {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'switchboard-golden-')));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  const where: HostEnvironment = { platform: 'linux', home, env: {}, cwd: join(home, 'shop') };
  const file = host.files.user(where)[0]!;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  try {
    const servers = readServers(host, where, 'user').map((server) => ({
      name: server.name,
      scope: server.location.scope,
      ...convertServer(server, { ...where, platform }),
    }));
    return `${JSON.stringify(servers, undefined, 2).replaceAll(home, 'HOME')}\n`;
  } catch (error) {
    return `${(error as Error).message.replaceAll(home, 'HOME')}\n`;
  } finally {
    // A broken file is read but never changed.
    expect(readFileSync(file, 'utf8')).toBe(text);
  }
}

describe.each(HOSTS)('$title', (host) => {
  const folder = join(GOLDEN, host.name);
  const cases = readdirSync(folder).filter((file) => file.endsWith('.before.txt'));

  test.each(cases)('%s', (name) => {
    const text = readFileSync(join(folder, name), 'utf8');
    const expected = join(folder, name.replace('.before.txt', '.imported.txt'));
    const platform = name.startsWith('windows') ? 'win32' : 'linux';
    expect(imported(host, text, platform)).toBe(readFileSync(expected, 'utf8'));
  });
});
