import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startClient, textOf } from '../helpers/raw-client.ts';
import { createProject, nodeServer, ROOT } from '../helpers/temp-project.ts';

test('the built program needs nothing beside it: no node_modules, no sources', async () => {
  const project = createProject({ 'switchboard.config.json': { mcpServers: { echo: nodeServer('echo') } } });
  cpSync(join(ROOT, 'dist'), project.path('program'), { recursive: true });
  project.write('program/package.json', { type: 'module' });
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
  // The path that explains a bad configuration loads the schema library, which is bundled too.
  project.write('bad/switchboard.config.json', { timeoutz: {} });
  const run = () =>
    execFileSync(process.execPath, [program, 'list'], { cwd: project.path('bad'), stdio: 'pipe' });
  expect(run).toThrow(/timeoutz.*timeouts/s);
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
