import { utimesSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createProject } from '../../../../test/helpers/temp-project.ts';
import { loadConfig } from '../../../config/index.ts';
import { changedSince } from './state-writer.ts';

const before = new Date(performance.timeOrigin - 60_000);
const after = new Date();

const env = { XDG_CONFIG_HOME: '/nothing/is/here' };

test('a file that was read, or that would be read now, counts when it was written since', async () => {
  const project = createProject({ 'work/.git/HEAD': '', 'work/switchboard.config.json': {} });
  const userDirectory = project.path('user');
  const config = await loadConfig({ cwd: project.path('work'), env: {}, userDirectory, allowProject: true });
  const own = project.path('work/switchboard.config.json');
  utimesSync(own, before, before);
  expect(changedSince(performance.timeOrigin, config, env)).toBe(false);
  utimesSync(own, after, after);
  expect(changedSince(performance.timeOrigin, config, env)).toBe(true);
  utimesSync(own, before, before);
  project.write('user/switchboard.config.json', {});
  expect(changedSince(performance.timeOrigin, config, env)).toBe(true);
});

test('a file that was named is the only one that counts', async () => {
  const project = createProject({ 'a.json': {}, 'switchboard.config.json': {} });
  const config = await loadConfig({ cwd: project.dir, configPath: 'a.json', env: {} });
  utimesSync(project.path('a.json'), before, before);
  expect(changedSince(performance.timeOrigin, config, env)).toBe(false);
});

test('a secret that was set since counts', async () => {
  const project = createProject({ 'a.json': {} });
  const config = await loadConfig({ cwd: project.dir, configPath: 'a.json', env: {} });
  utimesSync(project.path('a.json'), before, before);
  const home = { XDG_CONFIG_HOME: project.path('config') };
  expect(changedSince(performance.timeOrigin, config, home)).toBe(false);
  project.write('config/switchboard/secrets.json', {});
  expect(changedSince(performance.timeOrigin, config, home)).toBe(true);
});
