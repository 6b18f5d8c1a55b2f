import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { startClient, textOf } from '../helpers/raw-client.ts';
import { createProject, nodeServer, ROOT } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

test('the built program needs nothing beside it: no node_modules, no sources', async () => {
  const project = createProject({ 'switchboard.config.json': { mcpServers: { echo: nodeServer('echo') } } });
  cpSync(join(ROOT, 'dist'), project.path('program'), { recursive: true });
  const program = project.path('program/index.js');
  const client = startClient({ command: process.execPath, args: [program], cwd: project.dir });
  await client.initialize();
  const answer = await client.call('echo_suite', {
    action: 'call',
    subtool: 'echo',
    args: { text: 'alone' },
  });
  expect(textOf(answer)).toBe('alone');
  await client.close();
  // Nor does the other program, with its log file and what it writes down while it runs.
  project.write('proxy/config.json', { mcpServers: { echo: nodeServer('echo') }, logDirectory: 'logs' });
  const proxy = startClient({
    command: process.execPath,
    args: [project.path('program/mcp-proxy-server.js')],
    cwd: project.path('proxy'),
    env: { SWITCHBOARD_STATE_DIR: project.path('state'), SWITCHBOARD_LOG_LEVEL: '' },
  });
  await proxy.initialize();
  await proxy.listTools();
  expect(textOf(await proxy.call('echo', { text: 'alone, too' }))).toBe('alone, too');
  await until(() => existsSync(project.path('state/run', `${proxy.pid}.json`)));
  await proxy.close();
  expect(project.read('proxy/logs/mcp-proxy-server.log')).toContain('running server=echo');
  // The path that explains a bad configuration loads the schema library, which is bundled too.
  project.write('bad/switchboard.config.json', { timeouts: 'long' });
  const run = () =>
    execFileSync(process.execPath, [program, 'list'], { cwd: project.path('bad'), stdio: 'pipe' });
  expect(run).toThrow(/timeouts.*must be an object/s);
});

test('the package has every program, executable, and what a user needs to begin', () => {
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: ROOT,
      encoding: 'utf8',
      stdio: 'pipe',
    }),
  ) as [{ files: { path: string; mode: number }[] }];
  const modes = new Map(packed.files.map(({ path, mode }) => [path, mode]));
  const { bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    bin: Record<string, string>;
  };
  expect(Object.keys(bin)).toEqual([
    'switchboard',
    'mcp-switchboard',
    'mcp-proxy-server',
    'mcpmux',
    'switchyard',
    'sy',
  ]);
  for (const program of Object.values(bin)) {
    expect(modes.get(program)! & 0o111, program).toBe(0o111);
    expect(readFileSync(join(ROOT, program), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  }
  for (const file of ['README.md', 'LICENSE', 'config.example.json', 'switchboard.config.schema.json']) {
    expect(modes.has(file), file).toBe(true);
  }
  // A link of the README works where the package is installed.
  const links = readFileSync(join(ROOT, 'README.md'), 'utf8').matchAll(/\]\((?!https?:|#)([^)#]+)/g);
  const files = [...modes.keys()];
  for (const [, path] of links)
    expect(
      files.some((file) => file === path || file.startsWith(`${path!}/`)),
      path,
    ).toBe(true);
});

test('what the package exports has types, and reports bad input', () => {
  const project = createProject({
    'package.json': '{"type":"module"}',
    'use.ts': `import { startStdioRpc } from 'mcp-switchboard/stdio-rpc';
      const { write } = startStdioRpc((message: unknown) => write({ echo: message }));`,
    'use.js': `import { startStdioRpc } from 'mcp-switchboard/stdio-rpc';
      const { write } = startStdioRpc((message) => write({ echo: message }));`,
  });
  cpSync(join(ROOT, 'package.json'), project.path('node_modules/mcp-switchboard/package.json'));
  cpSync(join(ROOT, 'dist'), project.path('node_modules/mcp-switchboard/dist'), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules/@types'), project.path('node_modules/@types'));
  const tsc = [join(ROOT, 'node_modules/typescript/bin/tsc'), '--noEmit', '--strict', '--skipLibCheck'];
  const how = ['--module', 'nodenext', '--types', 'node', 'use.ts'];
  execFileSync(process.execPath, [...tsc, ...how], { cwd: project.dir, stdio: 'pipe' });
  const { stdout, stderr } = spawnSync(process.execPath, ['use.js'], {
    cwd: project.dir,
    input: '{"a":\n{"b":1}\n',
    encoding: 'utf8',
  });
  expect([stdout, stderr]).toEqual([
    '{"echo":{"b":1}}\n',
    'stdio-rpc: 5 bytes are not JSON and are skipped\n',
  ]);
});

test('what is bundled comes with the terms of everybody it is from', () => {
  const parts = readFileSync(join(ROOT, 'dist/LICENSES.txt'), 'utf8').split(`\n\n${'-'.repeat(80)}\n\n`);
  const names = parts.slice(1).map((part) => part.split(' ', 1)[0]);
  expect(names).toEqual(expect.arrayContaining(['@anthropic-ai/sdk', 'smol-toml', 'zod']));
  for (const part of parts.slice(1)) expect(part.length, part.slice(0, 80)).toBeGreaterThan(100);
});

test('a host waits for one large file and a few small ones, whichever program it starts', () => {
  const needed = (file: string, pattern: RegExp, seen = new Set<string>()): Set<string> => {
    if (seen.has(file)) return seen;
    seen.add(file);
    for (const [, path] of readFileSync(file, 'utf8').matchAll(pattern))
      needed(join(dirname(file), path!), /(?<!=>)\brequire\("(\.[^"]+)"\)/g, seen);
    return seen;
  };
  for (const program of ['index.js', 'mcp-proxy-server.js', 'mcpmux.js', 'switchyard.js']) {
    // The program itself requires its main module once compiled code can be cached.
    const files = [...needed(join(ROOT, 'dist', program), /\brequire\("(\.[^"]+)"\)/g)];
    // esbuild's own helpers are in a file of their own, which costs nothing that can be measured.
    const ours = files.filter((file) => !readFileSync(file, 'utf8').includes('module.exports={__'));
    expect(ours.length).toBeLessThanOrEqual(5);
    expect(files.filter((file) => statSync(file).size > 10_000)).toHaveLength(1);
  }
});

// One letter beyond ASCII, in a regular expression for example, makes V8 keep a file in twice the memory and read it slower.
test('the programs are written in ASCII', () => {
  const chunks = join(ROOT, 'dist/chunks');
  const files = readdirSync(chunks).filter((file) => file.endsWith('.js'));
  expect(files.length).toBeGreaterThan(10);
  // eslint-disable-next-line no-control-regex
  const strange = files.filter((file) => /[^\x00-\x7f]/.test(readFileSync(join(chunks, file), 'utf8')));
  expect(strange).toEqual([]);
});

test('the lockfile is complete for every system and names no download address', () => {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { resolved?: string; optionalDependencies?: Record<string, string> }>;
  };
  const entries = Object.entries(lock.packages);
  const installed = new Set(entries.map(([path]) => path.split('node_modules/').at(-1)));
  const wanted = entries.flatMap(([, { optionalDependencies = {} }]) => Object.keys(optionalDependencies));
  expect(wanted.filter((name) => !installed.has(name))).toEqual([]);
  expect(entries.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
});
