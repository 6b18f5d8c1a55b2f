import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ownLaunch } from './own-launch.ts';

function tree(...files: readonly string[]): string {
  const root = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'switchboard-launch-'));
  onTestFinished(() => fs.rmSync(root, { recursive: true, force: true }));
  for (const file of files) {
    fs.mkdirSync(join(root, file, '..'), { recursive: true });
    fs.writeFileSync(join(root, file), '', { mode: 0o755 });
  }
  return root;
}
const launch = 'npx -y mcp-switchboard';

test('a script is started by its interpreter, both by their full paths', () => {
  const root = tree('lib/node_modules/mcp-switchboard/dist/index.js', 'cellar/node');
  const script = join(root, 'lib/node_modules/mcp-switchboard/dist/index.js');
  const node = join(root, 'cellar/node');
  expect(ownLaunch({ script, node, launch, env: {} })).toEqual({ command: node, args: [script] });
});

// On Windows, only administrators can create links.
test.skipIf(process.platform === 'win32')(
  'the link of a global installation leads to the script, and the PATH to a name of the interpreter that lasts',
  () => {
    const root = tree('lib/node_modules/mcp-switchboard/dist/index.js', 'cellar/22.1/bin/node', 'other/node');
    const script = join(root, 'lib/node_modules/mcp-switchboard/dist/index.js');
    fs.mkdirSync(join(root, 'bin'));
    fs.mkdirSync(join(root, 'fnm_multishells/1'), { recursive: true });
    fs.symlinkSync(script, join(root, 'bin/switchboard'));
    for (const link of ['bin/node', 'fnm_multishells/1/node'])
      fs.symlinkSync(join(root, 'cellar/22.1/bin/node'), join(root, link));
    const env = { PATH: ['fnm_multishells/1', 'other', 'bin'].map((each) => join(root, each)).join(':') };
    const started = {
      script: join(root, 'bin/switchboard'),
      node: join(root, 'cellar/22.1/bin/node'),
      launch,
      env,
    };
    expect(ownLaunch(started)).toEqual({ command: join(root, 'bin/node'), args: [script] });
  },
);

// As above; npx of Windows follows below.
test.skipIf(process.platform === 'win32')('what was fetched for one run is fetched again', () => {
  const fetched = [
    '.npm/_npx/0123/node_modules/mcp-switchboard/dist/index.js',
    '.cache/pnpm/dlx/0123/node_modules/mcp-switchboard/dist/index.js',
    'tmp/dlx-42/node_modules/mcp-switchboard/dist/index.js',
    'tmp/bunx-0-mcp-switchboard@latest/node_modules/mcp-switchboard/dist/index.js',
  ];
  const root = tree('bin/node', 'bin/npx', 'elsewhere/npx', ...fetched);
  const beside = { node: join(root, 'bin/node'), launch, env: { PATH: join(root, 'elsewhere') } };
  for (const script of fetched)
    expect(ownLaunch({ ...beside, script: join(root, script) })).toEqual({
      command: join(root, 'bin/npx'),
      args: ['-y', 'mcp-switchboard'],
    });
  // The same through the link that npx creates.
  fs.mkdirSync(join(root, 'links'));
  fs.symlinkSync(join(root, fetched[0]!), join(root, 'links/mcp-switchboard'));
  expect(ownLaunch({ ...beside, script: join(root, 'links/mcp-switchboard') }).command).toBe(
    join(root, 'bin/npx'),
  );
  const alone = { ...beside, node: join(root, 'nowhere/node'), script: join(root, fetched[0]!) };
  expect(ownLaunch(alone).command).toBe(join(root, 'elsewhere/npx'));
  expect(ownLaunch({ ...alone, env: {} }).command).toBe('npx');
});

test('Windows starts the script of npx, or npx through its shell where it has none', () => {
  const script = '.npm/_npx/0123/node_modules/mcp-switchboard/dist/index.js';
  const root = tree('bin/npx.cmd', script, 'whole/npx.cmd', 'whole/node_modules/npm/bin/npx-cli.js');
  const started = {
    node: join(root, 'bin/node.exe'),
    script: join(root, script),
    launch,
    env: {},
    platform: 'win32' as const,
  };
  expect(ownLaunch(started)).toEqual({
    command: 'cmd',
    args: ['/c', join(root, 'bin/npx.cmd'), '-y', 'mcp-switchboard'],
  });
  const node = join(root, 'whole/node.exe');
  const args = [join(root, 'whole/node_modules/npm/bin/npx-cli.js'), '-y', 'mcp-switchboard'];
  expect(ownLaunch({ ...started, node })).toEqual({ command: node, args });
});
