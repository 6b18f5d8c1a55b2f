import { chmod, link, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadConfig } from '../../../config/index.ts';
import { httpToken } from './http-token.ts';

// Windows has no such modes.
const posix = process.platform !== 'win32';
let directory: string;
let env: NodeJS.ProcessEnv;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'http-token-'));
  env = { SWITCHBOARD_STATE_DIR: join(directory, 'state') };
});
afterEach(() => rm(directory, { recursive: true, force: true }));

async function config(text = '{}') {
  await writeFile(join(directory, 'switchboard.config.json'), text);
  return loadConfig({ cwd: directory, env });
}

test('one is made the first time, for its owner alone, and found again', async () => {
  const first = await httpToken(await config(), env);
  expect(first).toMatchObject({ from: 'file', made: true });
  expect(Buffer.from(first.token, 'base64url')).toHaveLength(32);
  expect(await readFile(first.file!, 'utf8')).toBe(`${first.token}\n`);
  if (posix) {
    expect((await stat(first.file!)).mode & 0o777).toBe(0o600);
    expect((await stat(env.SWITCHBOARD_STATE_DIR!)).mode & 0o777).toBe(0o700);
  }
  expect(await httpToken(await config(), env)).toEqual({ ...first, made: false });
});

test('several that start at the same time agree on one', async () => {
  const loaded = await config();
  const tokens = await Promise.all(Array.from({ length: 8 }, () => httpToken(loaded, env)));
  expect(new Set(tokens.map(({ token }) => token)).size).toBe(1);
  expect(tokens.filter(({ made }) => made)).toHaveLength(1);
});

test('the configuration comes before the environment, and that before the file', async () => {
  env.SWITCHBOARD_HTTP_TOKEN = 'from-the-environment';
  env.MINE = 'from-the-configuration';
  expect(await httpToken(await config('{"http":{"token":"${MINE}"}}'), env)).toEqual({
    token: 'from-the-configuration',
    from: 'config',
    made: false,
  });
  expect(await httpToken(await config(), env)).toMatchObject({
    token: 'from-the-environment',
    from: 'environment',
  });
});

test.each([
  ['too short', 'short'],
  ['with a space', 'sixteen characters'],
  ['with a control character', `sixteencharacters${String.fromCharCode(7)}`],
])('a token of the environment that is %s is refused, and not shown', async (_how, token) => {
  env.SWITCHBOARD_HTTP_TOKEN = token;
  const error = await httpToken(await config(), env).catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    code: 'TOKEN_UNUSABLE',
    message: expect.stringMatching(/^SWITCHBOARD_HTTP_TOKEN: /) as string,
  });
  // The same is said of one in the configuration.
  env.MINE = token;
  const configured = await httpToken(await config('{"http":{"token":"${MINE}"}}'), env).catch(
    (reason: unknown) => reason,
  );
  const { code, hint } = error as { code: string; hint: string };
  expect(configured).toMatchObject({ code, hint });
  expect(JSON.stringify(error) + String(error)).not.toContain(token);
});

test.runIf(posix)(
  'a file that others may read, that is a link or holds nothing is refused with what to do',
  async () => {
    const { file } = await httpToken(await config(), env);
    await chmod(file!, 0o644);
    await expect(httpToken(await config(), env)).rejects.toMatchObject({
      code: 'TOKEN_UNUSABLE',
      message: expect.stringContaining('other users can read') as string,
      hint: expect.stringMatching(/^Run: chmod 600 .*delete it/) as string,
    });
    await chmod(file!, 0o600);
    await writeFile(file!, '\n');
    await expect(httpToken(await config(), env)).rejects.toMatchObject({ code: 'TOKEN_UNUSABLE' });
    await rm(file!);
    await httpToken(await config(), env);
    await link(file!, join(directory, 'second'));
    await expect(httpToken(await config(), env)).rejects.toMatchObject({
      message: expect.stringContaining('hard link') as string,
    });
    await rm(join(directory, 'second'));
    await chmod(env.SWITCHBOARD_STATE_DIR!, 0o770);
    await expect(httpToken(await config(), env)).rejects.toMatchObject({
      message: expect.stringContaining('other users can write to its directory') as string,
      hint: expect.stringContaining(`chmod 700 ${env.SWITCHBOARD_STATE_DIR!}`) as string,
    });
    await chmod(env.SWITCHBOARD_STATE_DIR!, 0o700);
    await rm(file!);
    await writeFile(join(directory, 'elsewhere'), 'a-token-that-is-long-enough\n', { mode: 0o600 });
    await symlink(join(directory, 'elsewhere'), file!);
    await expect(httpToken(await config(), env)).rejects.toMatchObject({
      message: expect.stringContaining('symbolic link') as string,
    });
  },
);
