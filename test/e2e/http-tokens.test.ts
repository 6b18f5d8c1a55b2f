/**
 * Clients with different tokens over HTTP never share a server process, whether their protocol has sessions or not. A
 * running gateway honours tokens that are created and revoked.
 */
import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CANARY_TOOL, callCanary as call, postToCanary as post } from '../helpers/canary-client.ts';
import { HttpSession, type Target } from '../helpers/http-client.ts';
import { startHttpGateway, type HttpGateway } from '../helpers/http-gateway.ts';
import { echoProject, runCli, stateOf } from '../helpers/run-cli.ts';
import { createProject, nodeServer, type Project } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

async function createToken(project: Project, name: string): Promise<string> {
  const { code, json } = await runCli(project, ['token', 'create', name, '--json']);
  expect(code).toBe(0);
  return json.token as string;
}

const as = ({ url }: HttpGateway, token: string): Target => ({ url, token });

describe('clients without sessions', () => {
  test('share servers where they have one token, and no process where they have two', async () => {
    const gateway = await startHttpGateway({ canary: nodeServer('canary') });
    const [ann, bob] = [
      as(gateway, await createToken(gateway.project, 'ann')),
      as(gateway, await createToken(gateway.project, 'bob')),
    ];
    const kept = await call(ann, 'remember', { value: 'of ann' });
    expect(await call(bob, 'recall')).toMatchObject({ value: null });
    expect(await call(gateway, 'recall')).toMatchObject({ value: null });
    await call(bob, 'remember', { value: 'of bob' });
    expect(await call(ann, 'recall')).toEqual({ pid: kept.pid, value: 'of ann' });
    const pids = await Promise.all([ann, bob, gateway].map(async (each) => (await call(each, 'recall')).pid));
    expect(new Set(pids).size).toBe(3);
  });

  test('all share a server that is configured as shared', async () => {
    const gateway = await startHttpGateway({ canary: { ...nodeServer('canary'), isolation: 'shared' } });
    const ann = as(gateway, await createToken(gateway.project, 'ann'));
    const kept = await call(ann, 'remember', { value: 'for all' });
    expect(await call(gateway, 'recall')).toEqual(kept);
  });
});

test('a running gateway lets a new token in, and ends everything of a revoked one', async () => {
  const gateway = await startHttpGateway({ canary: nodeServer('canary') });
  expect((await post(as(gateway, 'no-token-of-anybody'), 'recall')).status).toBe(401);
  const ann = as(gateway, await createToken(gateway.project, 'ann'));
  await call(ann, 'recall');
  const session = await HttpSession.open(ann);
  await session.call(CANARY_TOOL, { action: 'call', subtool: 'recall' });
  const stream = await session.listen();
  await call(gateway, 'recall');
  expect(gateway.children().filter(({ command }) => command.includes('canary'))).toHaveLength(3);
  const { code, stdout } = await runCli(gateway.project, ['token', 'revoke', 'ann']);
  expect([code, stdout]).toEqual([0, expect.stringContaining("Revoked the token 'ann'")]);
  await until(() => stream.ended, { what: 'the end of the stream' });
  await until(() => gateway.children().filter(({ command }) => command.includes('canary')).length === 1, {
    what: 'the end of its servers',
  });
  expect((await post(ann, 'recall')).status).toBe(401);
  // Made again under the old name, it is another token.
  const again = as(gateway, await createToken(gateway.project, 'ann'));
  expect((await post(ann, 'recall')).status).toBe(401);
  expect(await call(again, 'recall')).toMatchObject({ value: null });
});

test('a gateway that cannot trust the file any more refuses the named tokens, and only those', async () => {
  const gateway = await startHttpGateway({ canary: nodeServer('canary') });
  const ann = as(gateway, await createToken(gateway.project, 'ann'));
  expect((await post(ann, 'recall')).status).toBe(200);
  writeFileSync(`${stateOf(gateway.project)}/http-tokens.json`, 'broken');
  await until(async () => (await post(ann, 'recall')).status === 401, { what: 'the refusal' });
  expect((await post(gateway, 'recall')).status).toBe(200);
  expect(gateway.stderr).toMatch(/named tokens are refused.*damaged/);
});

describe('switchboard token', () => {
  test('shows a token once and keeps its hash, for its owner alone', async () => {
    const project = echoProject();
    const { code, stdout } = await runCli(project, ['token', 'create', 'laptop']);
    expect(code).toBe(0);
    const token = /^ {2}(\S{43})$/m.exec(stdout)![1]!;
    const file = `${stateOf(project)}/http-tokens.json`;
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).not.toContain(token);
    const listed = await runCli(project, ['token', 'list', '--json']);
    expect(listed.json).toEqual({ file, tokens: [{ name: 'laptop', createdAt: expect.any(String) }] });
    expect((await runCli(project, ['token', 'list'])).stdout).toMatch(/^NAME +CREATED\nlaptop +20/);
  });

  test('says what is wrong and what to do', async () => {
    const project = echoProject();
    await createToken(project, 'laptop');
    const rows: [string[], number, string, RegExp][] = [
      [['create', 'laptop'], 2, 'TOKEN_EXISTS', /token revoke laptop/],
      [['revoke', 'latop'], 2, 'TOKEN_UNKNOWN', /laptop/],
      [['create', '../x'], 2, 'USAGE', /letters, digits/],
      [['create'], 2, 'USAGE', /token create laptop/],
      [['revoke'], 2, 'USAGE', /token list/],
      [[], 2, 'USAGE', /token create NAME/],
      [['make'], 2, 'USAGE', /token create NAME/],
    ];
    for (const [args, exit, error, hint] of rows) {
      const { code, json } = await runCli(project, ['token', ...args, '--json']);
      expect([args, code, json.error.code]).toEqual([args, exit, error]);
      expect(json.error.hint).toMatch(hint);
    }
    chmodSync(`${stateOf(project)}/http-tokens.json`, 0o644);
    const { code, stderr } = await runCli(project, ['token', 'list']);
    expect([code, stderr]).toEqual([78, expect.stringContaining('chmod 600')]);
  });

  test('loses none of those that are created at the same time', async () => {
    const project = createProject({});
    const names = Array.from({ length: 8 }, (_, n) => `t${n}`);
    await Promise.all(names.map((name) => createToken(project, name)));
    const { json } = await runCli(project, ['token', 'list', '--json']);
    expect(json.tokens.map(({ name }: { name: string }) => name).sort()).toEqual(names);
  });

  test('completes its subcommands and the names to revoke', async () => {
    const project = echoProject();
    await createToken(project, 'laptop');
    const words = async (...typed: string[]): Promise<string> =>
      (await runCli(project, ['__complete', ...typed])).stdout;
    expect(await words('token', '')).toMatch(/^create\t.*\nlist\t.*\nrevoke\t/);
    expect(await words('token', 'revoke', '')).toBe('laptop\n');
  });
});
