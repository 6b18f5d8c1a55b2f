import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createProject } from '../../test/helpers/temp-project.ts';
import { readEnvFile } from './env-file.ts';
import { loadConfig } from './index.ts';
import { cheapestMs } from '../../test/helpers/cheapest.ts';

const CONFIG = 'switchboard.config.json';

test('lines of a dotenv file are read with their comments, quotes and line breaks', () => {
  const project = createProject({
    '.env': '\ufeff# keys\nA=1\nexport B = two words # said\nC="x # y"\nD=\'$A\'\nE="first\nsecond"\nF=\r\n',
  });
  expect(readEnvFile(project.path('.env'))).toEqual({
    kind: 'read',
    env: { A: '1', B: 'two words', C: 'x # y', D: '$A', E: 'first\nsecond', F: '' },
  });
});

test('the reason for an invalid file never contains its content', () => {
  const project = createProject({ 'no.env': 'very secret text\n', 'odd.env': 'very secret=1\nA=1\n' });
  mkdirSync(project.path('folder'));
  const whyOf = (file: string): string => {
    const read = readEnvFile(project.path(file));
    return read.kind === 'failed' ? read.why : 'it was read';
  };
  expect(whyOf('gone.env')).toBe(`the env file ${project.path('gone.env')} does not exist`);
  expect(whyOf('folder')).toContain('not a regular file');
  expect(whyOf('no.env')).toContain('NAME=value');
  expect(whyOf('odd.env')).toContain('NAME=value');
  expect(whyOf('no.env') + whyOf('odd.env')).not.toContain('secret');
  project.write('large.env', `A=${'x'.repeat(1024 * 1024)}`);
  expect(whyOf('large.env')).toContain('larger than 1 MiB');
});

test.skipIf(process.platform === 'win32')('a pipe keeps nobody waiting', () => {
  const project = createProject();
  execFileSync('mkfifo', [project.path('pipe')]);
  expect(readEnvFile(project.path('pipe'))).toMatchObject({ kind: 'failed' });
});

test('a server gets the variables of its file, and what its entry says wins', async () => {
  const project = createProject({
    'conf/.env': 'TOKEN=from-file\nLEVEL=low\n',
    [CONFIG]: {
      mcpServers: { a: { command: 'a', envFile: '${FOLDER}/.env', env: { LEVEL: 'high' } } },
    },
  });
  const { servers } = await loadConfig({ cwd: project.dir, env: { FOLDER: 'conf' } });
  expect(servers).toMatchObject([{ name: 'a', env: { TOKEN: 'from-file', LEVEL: 'high' } }]);
});

test('a server whose file is missing is unusable and says why; the others work', async () => {
  const project = createProject({
    [CONFIG]: { mcpServers: { a: { command: 'a', envFile: '.env' }, b: { command: 'b' } } },
  });
  const { servers, unusable } = await loadConfig({ cwd: project.dir, env: {} });
  expect(servers.map(({ name }) => name)).toEqual(['b']);
  expect(unusable).toMatchObject([
    { name: 'a', reason: expect.stringContaining(`${project.path('.env')} does not exist`) as string },
  ]);
  // Also if nobody may read it. Root may read everything, and Windows has no such mode.
  if (process.platform === 'win32' || process.getuid?.() === 0) return;
  chmodSync(project.write('.env', 'A=1'), 0);
  expect((await loadConfig({ cwd: project.dir, env: {} })).unusable).toHaveLength(1);
});

test('a file made of carriage returns is read in time', () => {
  const project = createProject({ '.env': '\r'.repeat(256 * 1024) });
  expect(
    cheapestMs(500, () => {
      readEnvFile(project.path('.env'));
    }),
  ).toBeLessThan(500);
});
