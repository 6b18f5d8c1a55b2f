import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ask, outcomeOf, runningYard } from '../../../../test/helpers/yard-services.ts';
import { doctor } from '../doctor/doctor.ts';

const API = '[services.api]\ncommand = "./serve.sh"\ncwd = "./packages/api/"\n';

describe('cwd of a service', () => {
  test('is where its command runs, and where its program is looked up', async () => {
    const yard = await runningYard(`${API}[services.web]\ncommand = "node server.mjs"\n`);
    const directory = join(yard.root, 'packages/api');
    mkdirSync(directory, { recursive: true });
    const script = '#!/bin/sh\nexec node ../../server.mjs\n';
    writeFileSync(join(directory, 'serve.sh'), script, { mode: 0o755 });
    const result = await yard.up();
    expect(result.messages.join('\n')).not.toContain('not started');
    expect((await ask(outcomeOf(result, 'api').port)).cwd).toBe(directory);
    expect((await ask(outcomeOf(result, 'web').port)).cwd).toBe(yard.root);
    expect(yard.services()['current::api']).toMatchObject({ cwd: directory, worktree: yard.root });
  });

  test('that is missing is reported for its service, and the others start', async () => {
    const yard = await runningYard(`${API}[services.web]\ncommand = "node server.mjs"\n`);
    const result = await yard.up();
    expect(outcomeOf(result, 'web').result).toBe('ready');
    expect(outcomeOf(result, 'api')).toMatchObject({
      result: 'not-started',
      message: `"api" could not be started: its working directory "${join(yard.root, 'packages/api')}" does not exist (ENOENT).`,
      details: ['Create it on this branch, or correct services.api.cwd in switchyard.toml.'],
    });
    const { findings } = await doctor({ cwd: yard.root, env: yard.context.env });
    expect(findings.map(({ what }) => what)).toContain(
      `The cwd of api does not exist: ${join(yard.root, 'packages/api')}.`,
    );
  });

  test('that leaves the worktree through a link is rejected before anything is started', async () => {
    const yard = await runningYard(`${API}[services.web]\ncommand = "node server.mjs"\n`);
    mkdirSync(join(yard.root, 'packages'));
    symlinkSync('/', join(yard.root, 'packages/api'));
    await expect(yard.up()).rejects.toThrow('services.api.cwd points outside the worktree');
    expect(yard.services()).toEqual({});
    // A service that is not started does not prevent the others from starting.
    expect((await yard.up({ services: ['web'] })).ok).toBe(true);
  });

  test('of a service that exits because packages are missing is where to install them', async () => {
    const yard = await runningYard('[services.api]\ncommand = "node missing.mjs"\ncwd = "api"\n');
    mkdirSync(join(yard.root, 'api'));
    writeFileSync(join(yard.root, 'api/package.json'), '{ "dependencies": { "express": "5" } }');
    const { details } = outcomeOf(await yard.up(), 'api');
    expect(details.at(-1)).toContain(`${join(yard.root, 'api')} has no node_modules; run \`npm install\``);
  });
});
