/** Commands that take a branch or a service as their first word, like `up`. */
import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createYardWithProxy } from '../helpers/yard-with-proxy.ts';
import { serviceCommand } from '../helpers/yard-traffic.ts';

const service = (name: string): string =>
  `[services.${name}]\ncommand = "${serviceCommand('talks')}"\nready_timeout = 60\n`;

test('down, restart and logs take a branch, a service, or a branch and services', async () => {
  const yard = await createYardWithProxy(service('web') + service('api'));
  const { worktree } = await yard.ask('create', 'feature/b');
  await yard.ask('up');
  const { outcomes } = await yard.ask('up', 'feature/b');
  const pids = async (): Promise<Record<string, number>> => {
    const { services } = await yard.ask('status');
    return Object.fromEntries(services.map((each: any) => [`${each.branch} ${each.service}`, each.pid]));
  };
  const before = await pids();
  expect(Object.keys(before).sort()).toEqual(['feature/b api', 'feature/b web', 'main api', 'main web']);

  for (const { service: name, port } of outcomes)
    await (await fetch(`http://127.0.0.1:${port}/say?${name}-speaks`)).text();
  const logs = async (...words: string[]): Promise<string[]> =>
    (await yard.ask('logs', ...words)).logs.map((log: any) => `${log.branch} ${log.service}`);
  expect(await logs('feature-b')).toEqual(['feature/b web', 'feature/b api']);
  expect(await logs('feature/b', 'api')).toEqual(['feature/b api']);
  expect(await logs('api')).toEqual(['main api']);
  expect((await yard.run(['logs', 'feature-b', 'web'])).stdout).toContain('web-speaks');
  expect(await yard.run(['logs', 'web', 'api'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('logs takes one service, so "api" is one too many.'),
  });

  expect(await yard.ask('restart', 'feature-b', 'web')).toMatchObject({
    branch: 'feature/b',
    services: ['web'],
  });
  const after = await pids();
  expect(Object.keys(after).filter((key) => after[key] !== before[key])).toEqual(['feature/b web']);
  // In another worktree, a branch is still a branch.
  expect((await yard.run(['restart', 'main', 'api', '--json'], { cwd: worktree })).json).toMatchObject({
    ok: true,
    branch: 'main',
    services: ['api'],
  });

  expect(await yard.ask('down', 'feature-b', 'api')).toMatchObject({
    branch: 'feature-b',
    messages: ['stopped api'],
  });
  expect(await yard.ask('down', 'feature/b')).toMatchObject({
    branch: 'feature-b',
    messages: ['stopped web'],
  });
  expect(Object.keys(await pids()).sort()).toEqual(['main api', 'main web']);
  // With the flag every word is a service, as ever.
  expect(await yard.ask('down', 'web', '--branch', 'main')).toMatchObject({ messages: ['stopped web'] });
  expect(await yard.ask('down', 'api')).toMatchObject({ messages: ['stopped api'] });
  expect(yard.living()).toEqual([]);
});

test('a name that is a branch and a service is rejected; a branch without its worktree is still known', async () => {
  const yard = await createYardWithProxy(service('web') + service('twin'));
  await yard.ask('create', 'twin');
  const { worktree } = await yard.ask('create', 'gone');
  await yard.ask('up', 'gone', 'web');
  for (const command of ['up', 'down', 'restart', 'logs']) {
    const { code, stderr } = await yard.run([command, 'twin']);
    expect(code, stderr).toBe(2);
    expect(stderr).toContain('"twin" is both a branch and a service.');
    expect(stderr).toContain(
      `Write ${command} --branch twin for the branch, or ${command} --branch BRANCH twin`,
    );
  }
  rmSync(worktree, { recursive: true });
  expect(await yard.ask('down', 'gone')).toMatchObject({ branch: 'gone', messages: ['stopped web'] });
  expect(yard.living()).toEqual([]);
});
