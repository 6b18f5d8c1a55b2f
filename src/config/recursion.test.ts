import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { recursionGuard } from './recursion.ts';

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
  'C:\\nodejs\\node.exe C:\\nodejs\\node_modules\\npm\\bin\\npx-cli.js -y mcp-switchboard',
  'env A=B npx mcp-switchboard',
  'node node_modules/mcp-switchboard/dist/index.js',
  'node --no-warnings /src/switchboard/dist/index.js --x',
  'node ./node_modules/.bin/switchboard',
])('%s starts ourselves', (line) => {
  const [command = '', ...args] = line.split(' ');
  expect(recursionGuard()({ command, args, cwd })).toBe(true);
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
  'node /usr/lib/node_modules/npm/bin/npx-cli.js -y other',
  'npx',
])('%s does not', (line) => {
  const [command = '', ...args] = line.split(' ');
  expect(recursionGuard('/elsewhere/index.js')({ command, args, cwd })).toBe(false);
});

// Only administrators can create links on Windows.
test.skipIf(process.platform === 'win32')(
  'the script that runs now is recognised, also through links',
  () => {
    const directory = mkdtempSync(join(tmpdir(), 'recursion-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const script = join(directory, 'index.js');
    writeFileSync(script, '');
    mkdirSync(join(directory, 'bin'));
    symlinkSync(script, join(directory, 'bin/index.js'));
    symlinkSync(script, join(directory, 'bin/tool'));
    expect(
      recursionGuard(join(directory, 'bin/tool'))({ command: 'node', args: ['index.js'], cwd: directory }),
    ).toBe(true);
    expect(recursionGuard(script)({ command: 'node', args: ['bin/index.js'], cwd: directory })).toBe(true);
    expect(recursionGuard(script)({ command: './bin/index.js', args: [], cwd: directory })).toBe(true);
    expect(recursionGuard(script)({ command: 'node', args: ['third.js'], cwd: directory })).toBe(false);
  },
);
