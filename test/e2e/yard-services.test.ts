/** What `switchyard.toml` says about services, and what `up` and `create` make of it. */
import { describe, expect, test } from 'vitest';
import { peopleYard } from '../helpers/yard-people.ts';

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
    const yard = await peopleYard('[services.api]\ncommand = "node server.mjs"\ncwd = "packages/api"\n', {
      files: { 'packages/api/server.mjs': SERVER },
    });
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
