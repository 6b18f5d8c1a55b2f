/** What `switchyard.toml` says about services, and what `up` and `create` make of it. */
import { describe, expect, test } from 'vitest';
import { createYardWithProxy } from '../helpers/yard-with-proxy.ts';

/** Answers with the directory it runs in, and what is in `.env` there. */
const SERVER = `
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
const read = () => { try { return readFileSync('.env', 'utf8'); } catch { return null; } };
createServer((request, response) => {
  response.end(JSON.stringify({ cwd: process.cwd(), env: read() }));
}).listen(Number(process.env.PORT), process.env.HOST);
`;

async function answerOf(up: any, service: string): Promise<{ cwd: string; env: string | null }> {
  const { port } = up.outcomes.find((outcome: any) => outcome.service === service);
  return (await fetch(`http://127.0.0.1:${port}/`)).json() as never;
}

describe('cwd', () => {
  test('is a directory of each branch', async () => {
    const yard = await createYardWithProxy(
      '[services.api]\ncommand = "node server.mjs"\ncwd = "packages/api"\n',
      {
        files: { 'packages/api/server.mjs': SERVER },
      },
    );
    const { worktree } = await yard.ask('create', 'feature-x');
    expect((await answerOf(await yard.ask('up'), 'api')).cwd).toBe(yard.path('packages/api'));
    expect((await answerOf(await yard.ask('up', 'feature-x'), 'api')).cwd).toBe(`${worktree}/packages/api`);
    const { services } = await yard.ask('status');
    expect(services.map(({ branch, cwd }: any) => [branch, cwd]).sort()).toEqual([
      ['feature-x', `${worktree}/packages/api`],
      ['main', yard.path('packages/api')],
    ]);
    await yard.ask('down');
  });
});

describe('up tells', () => {
  test('keys without effect, with their line and a suggestion', async () => {
    const yard = await createYardWithProxy('[services.web]\ncommand = "node server.mjs"\ndepend_on = []\n', {
      files: { 'server.mjs': SERVER },
    });
    const ran = await yard.run(['up']);
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain(
      'warning: switchyard.toml:10: services.web.depend_on is not a known key and is ignored. Did you mean "depends_on"?\n',
    );
    // Not only when something is started, and to programs too.
    const { messages } = await yard.ask('up');
    expect(messages.filter((message: string) => message.startsWith('warning: '))).toHaveLength(1);
    await yard.ask('down');
  });

  test('how to rewrite a command with shell syntax', async () => {
    const yard = await createYardWithProxy(
      '[services.api]\ncommand = "cd packages/api && node server.mjs"\n' +
        '[services.web]\ncommand = "COLOUR=blue node packages/api/server.mjs"\n',
      { files: { 'packages/api/server.mjs': SERVER } },
    );
    const failed = await yard.run(['up']);
    expect(failed.code).toBe(1);
    const cwd = 'cwd = "packages/api" and command = "node server.mjs"';
    const env = 'env = { COLOUR = "blue" } and command = "node packages/api/server.mjs"';
    expect(failed.stdout).toContain(
      `warning: switchyard.toml:9: services.api.command has \`cd packages/api\`, but commands do not run in a shell. Write ${cwd}.`,
    );
    expect(failed.stdout).toContain(`  Commands do not run in a shell. Write ${env} in switchyard.toml.`);

    // As it says.
    const lines = (text: string): string => text.replaceAll(' and command', '\ncommand');
    const toml = yard.read('switchyard.toml').split('[services.api]')[0]!;
    yard.write('switchyard.toml', `${toml}[services.api]\n${lines(cwd)}\n[services.web]\n${lines(env)}\n`);
    const right = await yard.ask('up');
    expect(right.messages.join('\n')).not.toContain('warning');
    expect((await answerOf(right, 'api')).cwd).toBe(yard.path('packages/api'));
    await yard.ask('down');
  });
});

test('env files added to the configuration later are linked by create, and reported by up', async () => {
  const yard = await createYardWithProxy('[services.web]\ncommand = "node server.mjs"\n', {
    files: { 'server.mjs': SERVER, '.gitignore': '.env\nlocal.json\nextra.txt\n' },
  });
  const { worktree } = await yard.ask('create', 'feature-x');
  yard.write('.env', 'A=1');
  yard.write('local.json', '{}');
  const toml = yard.read('switchyard.toml');
  yard.write('switchyard.toml', `[env]\nlink = [".env"]\ncopy = ["local.json"]\n${toml}`);

  const lacking = await yard.ask('up', 'feature-x');
  expect(lacking.messages).toContain(
    `warning: ${worktree} is missing .env, local.json, listed under [env] in switchyard.toml; ` +
      '`switchyard create feature-x` adds them',
  );
  expect((await answerOf(lacking, 'web')).env).toBeNull();
  // The project itself lacks nothing.
  expect((await yard.ask('up')).messages.join('\n')).not.toContain('is missing');

  expect(await yard.ask('create', 'feature-x')).toMatchObject({
    created: false,
    env: ['linked .env', 'copied local.json'],
  });
  const complete = await yard.ask('up', 'feature-x');
  expect(complete.messages.join('\n')).not.toContain('is missing');
  expect((await answerOf(complete, 'web')).env).toBe('A=1');
  // What is there is kept, and nothing is said of it.
  expect(await yard.ask('create', 'feature-x')).toMatchObject({ created: false, env: [] });
  yard.write('extra.txt', 'x');
  yard.write('.worktreeinclude', 'extra.txt\n');
  expect(await yard.ask('create', 'feature-x')).toMatchObject({ created: false, env: ['copied extra.txt'] });
  await yard.ask('down');
});
