import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startsOurselves } from './recursion.ts';

const cwd = '/project';

test.each([
  'switchboard',
  'mcp-switchboard --config x.json',
  '/usr/local/bin/switchboard',
  'C:\\npm\\switchboard.cmd',
  'npx mcp-switchboard',
  'npx -y mcp-switchboard@latest --config x',
  'npx -y switchboard',
  'npx -y --package=mcp-switchboard switchboard',
  'npx -p mcp-switchboard@1.2.3 something',
  'pnpm dlx mcp-switchboard',
  'npm exec -- mcp-switchboard',
  'bunx mcp-switchboard',
  'bun x mcp-switchboard',
  'cmd /c npx -y mcp-switchboard',
  'env A=B npx mcp-switchboard',
  'node node_modules/mcp-switchboard/dist/index.js',
  'node --no-warnings /src/switchboard/dist/index.js --x',
  'node ./node_modules/.bin/switchboard',
])('%s starts ourselves', (line) => {
  const [command = '', ...args] = line.split(' ');
  expect(startsOurselves({ command, args, cwd })).toBe(true);
});

test.each([
  'npx -y @playwright/mcp',
  'npx -y some-server switchboard',
  'npx -y @acme/mcp-switchboard-plugin',
  'node dist/index.js',
  'my-switchboard',
  'python switchboard/dist/index.js',
  'docker run switchboard-db',
  'cmd',
  'env',
  'npx',
])('%s does not', (line) => {
  const [command = '', ...args] = line.split(' ');
  expect(startsOurselves({ command, args, cwd }, '/elsewhere/index.js')).toBe(false);
});

test('the script that runs now is recognised under any name, also through a link', () => {
  const directory = mkdtempSync(join(tmpdir(), 'recursion-'));
  const script = join(directory, 'index.js');
  writeFileSync(script, '');
  symlinkSync(script, join(directory, 'other.js'));
  expect(startsOurselves({ command: 'node', args: ['index.js'], cwd: directory }, script)).toBe(true);
  expect(startsOurselves({ command: 'node', args: ['other.js'], cwd: directory }, script)).toBe(true);
  expect(startsOurselves({ command: './other.js', args: [], cwd: directory }, script)).toBe(true);
  expect(startsOurselves({ command: 'node', args: ['third.js'], cwd: directory }, script)).toBe(false);
});
