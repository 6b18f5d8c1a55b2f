import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openBrowser } from './open-browser.ts';

let directory: string;
let env: NodeJS.ProcessEnv;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'switchboard-browser-'));
  // PATH contains nothing else, so that no real browser is opened.
  env = { PATH: directory, DISPLAY: ':0' };
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function opener(code: number): void {
  const program = join(directory, process.platform === 'darwin' ? 'open' : 'xdg-open');
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$@" > "${directory}/opened"\nexit ${code}\n`);
  chmodSync(program, 0o755);
}

const posix = process.platform !== 'win32';

test.runIf(posix)('the address is passed unchanged, without a shell', async () => {
  opener(0);
  expect(await openBrowser('https://login.example/a?b=$(id)&c=`x`;d', env)).toBe(true);
  expect(readFileSync(join(directory, 'opened'), 'utf8')).toBe('https://login.example/a?b=$(id)&c=`x`;d\n');
});

test.runIf(posix)('a failing or missing opener returns false', async () => {
  expect(await openBrowser('https://login.example/', env)).toBe(false);
  opener(3);
  expect(await openBrowser('https://login.example/', env)).toBe(false);
});

test('other addresses than web pages are not opened', async () => {
  if (posix) opener(0);
  for (const url of ['file:///etc/passwd', 'javascript:alert(1)', 'vscode://x'])
    expect(await openBrowser(url, env)).toBe(false);
});

test.runIf(process.platform === 'linux')('without a screen there is no browser', async () => {
  opener(0);
  expect(await openBrowser('https://login.example/', { PATH: directory })).toBe(false);
});
