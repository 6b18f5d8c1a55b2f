/** Secrets in files that everybody has who has the project: named by their keys, with a way out, never shown. */
import { expect, test } from 'vitest';
import { createHostHome } from '../helpers/host-home.ts';

const PROJECT = 'work/switchboard.config.json';
const SECRET = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';

test('add --project and doctor warn of a literal secret; your own file may hold it', async () => {
  const at = createHostHome({ [PROJECT]: {} });
  const add = (flag: string, name: string, ...args: string[]) =>
    at.run(['add', name, flag, ...args, '--', process.execPath, 'server.js', '--token', SECRET]);
  const shared = await add('--project', 'shared', '--env', `API_TOKEN=${SECRET}`);
  expect(shared.code).toBe(0);
  for (const text of [
    'env.API_TOKEN of "shared"',
    'args[2]',
    '"${API_TOKEN}"',
    at.home.path(PROJECT),
    '--user',
  ])
    expect(shared.stderr).toContain(text);
  const READABLE = 'looks like a secret, and everyone who has this project can read it';
  expect(shared.stderr).toContain(READABLE);
  const own = await add('--user', 'own');
  expect(own.code).toBe(0);
  expect(own.stderr).not.toContain(READABLE);

  const doctor = await at.run(['doctor', '--json']);
  expect(doctor.code).toBe(1);
  const warned = doctor.json.warnings.map(({ key }: { key: string }) => key);
  expect(warned).toEqual(['mcpServers.shared.args[2]', 'mcpServers.shared.env.API_TOKEN']);
  expect(shared.stderr + doctor.stdout + doctor.stderr).not.toContain(SECRET);

  const remote = await at.run(['add', 'docs', '--project', '--url', `https://a.example/mcp?token=${SECRET}`]);
  expect(remote.stderr).toContain('url of "docs"');
});
