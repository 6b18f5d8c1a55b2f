import { expect, test } from 'vitest';
import { createProject } from '../../test/helpers/temp-project.ts';
import { SwitchboardError } from '../shared/errors.ts';
import { httpTokenOf, loadConfig, type LoadedConfig } from './index.ts';

const GOOD = 'abcdefghijklmnop';

async function load(token?: string): Promise<LoadedConfig> {
  const project = createProject({
    'switchboard.config.json': { http: token === undefined ? {} : { token } },
  });
  return loadConfig({ cwd: project.dir, env: {} });
}

function failure(config: LoadedConfig, env: Record<string, string>): SwitchboardError {
  try {
    httpTokenOf(config, env);
  } catch (error) {
    if (error instanceof SwitchboardError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

test('a token is literal or comes from the environment', async () => {
  expect(httpTokenOf(await load(GOOD), {})).toBe(GOOD);
  expect(httpTokenOf(await load('${TOKEN}'), { TOKEN: GOOD })).toBe(GOOD);
});

test('where none is given, or an empty one, others may say', async () => {
  expect(httpTokenOf(await load(), {})).toBeUndefined();
  expect(httpTokenOf(await load('${TOKEN:-}'), {})).toBeUndefined();
  expect(httpTokenOf(await loadConfig({ cwd: createProject().dir, env: {} }), {})).toBeUndefined();
});

test('the settings do not hold it', async () => {
  expect(JSON.stringify((await load(GOOD)).settings)).not.toContain(GOOD);
});

test.each([
  ['a variable that is not set', {}, 'the environment variable TOKEN is not set.'],
  ['a short one', { TOKEN: 'only-15-letters' }, 'must have at least 16 characters'],
  ['one with a space', { TOKEN: 'abcdefgh ijklmnopq' }, 'without spaces'],
  ['one with a line break', { TOKEN: `${GOOD}\n` }, 'without spaces'],
  ['one with other letters', { TOKEN: `${GOOD}é` }, 'only printable ASCII'],
])('%s is refused, without being shown', async (_, env, expected) => {
  const config = await load('${TOKEN}');
  const error = failure(config, env);
  expect(error.code).toBe('TOKEN_UNUSABLE');
  expect(error.message).toContain(`${config.file}: http.token: `);
  expect(error.message).toContain(expected);
  for (const value of Object.values(env)) expect(error.explained).not.toContain(value.trim());
});
