import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createProject } from '../../test/helpers/temp-project.ts';
import { locateConfig, findConfig } from './find.ts';

const NAME = 'switchboard.config.json';

/** A home directory with a user file and the given files. */
function home(files: Record<string, string | object> = {}) {
  const place = createProject({ [`.config/switchboard/${NAME}`]: {}, ...files });
  const search = { home: place.dir, userDirectory: place.path('.config/switchboard') };
  const user = { path: place.path('.config/switchboard', NAME), scope: 'user' };
  return {
    ...{ place, search, user },
    filesFrom: (cwd: string) => findConfig({ cwd: place.path(cwd), ...search }).files,
    project: (path: string) => ({ path: place.path(path), scope: 'project' }),
  };
}

test('the project file is the nearest one upwards, and comes before that of the user', () => {
  const { filesFrom, project, user } = home({
    [`app/${NAME}`]: {},
    'app/packages/web/index.js': '',
    [`app/packages/api/${NAME}`]: {},
  });
  expect(filesFrom('app')).toEqual([project(`app/${NAME}`), user]);
  expect(filesFrom('app/packages/web')).toEqual([project(`app/${NAME}`), user]);
  expect(filesFrom('app/packages/api')).toEqual([project(`app/packages/api/${NAME}`), user]);
});

test.each([
  ['a directory', { 'outer/repo/.git/HEAD': '' }],
  ['a file, as in a worktree', { 'outer/repo/.git': 'gitdir: elsewhere' }],
])('the search ends at the root of the repository, where .git is %s', (_, git) => {
  const { filesFrom, project, user, place } = home({
    [`outer/${NAME}`]: {},
    'outer/repo/src/x.js': '',
    ...git,
  });
  expect(filesFrom('outer/repo/src')).toEqual([user]);
  place.write(`outer/repo/${NAME}`, {});
  expect(filesFrom('outer/repo/src')).toEqual([project(`outer/repo/${NAME}`), user]);
});

test('a file in the home directory counts only if that is the working directory', () => {
  const { filesFrom, project, user } = home({ [NAME]: {}, 'notes/today.md': '' });
  expect(filesFrom('notes')).toEqual([user]);
  expect(filesFrom('.')).toEqual([project(NAME), user]);
});

test("the user's own directory is no project", () => {
  const { filesFrom, user } = home({ '.config/switchboard/mcps/a/x': '' });
  expect(filesFrom('.config/switchboard')).toEqual([user]);
  expect(filesFrom('.config/switchboard/mcps/a')).toEqual([user]);
});

test('of several files in one directory, the ignored ones are reported', () => {
  const { place, search } = home({ [`app/${NAME}`]: {}, 'app/switchboard.config.mjs': '' });
  expect(findConfig({ cwd: place.path('app'), ...search }).unused).toEqual([
    { path: place.path('app/switchboard.config.mjs'), usedInstead: place.path('app', NAME) },
  ]);
});

test('a file that is named is the only one', () => {
  const { place, search } = home({ [`app/${NAME}`]: {}, 'app/other.json': {} });
  expect(findConfig({ cwd: place.path('app'), configPath: 'other.json', ...search })).toEqual({
    files: [{ path: place.path('app/other.json'), scope: 'explicit' }],
    unused: [],
    userDirectory: undefined,
  });
});

test('the other programs read neither', () => {
  const { place, search } = home({ [`app/${NAME}`]: {}, 'app/config.json': {} });
  const defaults = { exposure: 'flat', naming: 'plain' } as const;
  const find = (variant: object) =>
    findConfig({ cwd: place.path('app'), variant: { defaults, ...variant }, ...search }).files;
  expect(find({ findsConfig: false })).toEqual([]);
  expect(find({ configFile: 'config.json' })).toEqual([
    { path: place.path('app/config.json'), scope: 'project' },
  ]);
});

test('returns where a file is, or would be created', () => {
  const { place, search } = home({ 'app/src/x.js': '', 'other/switchboard.config.jsonc': '{}' });
  const at = (cwd: string) => ({ cwd: place.path(cwd), ...search });
  expect(locateConfig('user', at('app'))).toEqual({
    file: place.path('.config/switchboard', NAME),
    path: place.path('.config/switchboard', NAME),
    directory: place.path('.config/switchboard'),
  });
  expect(locateConfig('user', { ...at('app'), userDirectory: place.path('none') })).toEqual({
    file: undefined,
    path: place.path('none', NAME),
    directory: place.path('none'),
  });
  expect(locateConfig('project', at('app/src'))).toEqual({
    file: undefined,
    path: place.path('app/src', NAME),
    directory: place.path('app/src'),
  });
  expect(locateConfig('project', at('other')).path).toBe(join(place.dir, 'other/switchboard.config.jsonc'));
});
