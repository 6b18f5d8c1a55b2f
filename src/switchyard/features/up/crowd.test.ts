import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  ask,
  freeRange,
  runningYard,
  spawnUp,
  type RunningYard,
} from '../../../../test/helpers/yard-services.ts';
import { ensureProject } from '../../records/state/project-record.ts';
import type { UpResult } from './up.ts';

const BRANCHES = ['a', 'b', 'c', 'd'];
const SERVICES = ['one', 'two', 'three', 'four'];
const TOML = SERVICES.map(
  (name) => `[services.${name}]\ncommand = "node server.mjs"\nready_timeout = 60\n`,
).join('');

/** Records worktrees that are plain directories. */
async function withBranches(yard: RunningYard): Promise<void> {
  await yard.context.registry.change((state) => {
    const { worktrees } = ensureProject(state, yard.context.config);
    for (const branch of BRANCHES) {
      const path = join(yard.root, 'trees', branch);
      mkdirSync(path, { recursive: true });
      symlinkSync(join(yard.root, 'server.mjs'), join(path, 'server.mjs'));
      worktrees[branch] = { branch, slug: branch, path, updated_at: '2026-01-01T00:00:00+00:00' };
    }
  });
}

async function resultOf(child: ChildProcess): Promise<UpResult> {
  const [output] = await Promise.all([text(child.stdout!), once(child, 'exit')]);
  return JSON.parse(output) as UpResult;
}

describe('many commands at once', () => {
  test('for several branches of two projects in one home give every service its own port', async () => {
    const { start, end } = await freeRange(100);
    const range = `[ports]\nstart = ${start}\nend = ${end}\n`;
    const one = await runningYard(`${range}${TOML}`);
    const two = await runningYard(`${range}${TOML}`, one.home);
    await withBranches(one);
    await withBranches(two);
    const starts = [one, two].flatMap((yard) =>
      BRANCHES.map(async (branch) => ({ yard, branch, result: await resultOf(spawnUp(yard, { branch })) })),
    );
    const results = await Promise.all(starts);
    const outcomes = results.flatMap(({ result }) => result.outcomes);
    expect(outcomes.map(({ result }) => result)).toEqual(outcomes.map(() => 'ready'));
    expect(outcomes).toHaveLength(2 * BRANCHES.length * SERVICES.length);
    expect(new Set(outcomes.map(({ port }) => port)).size).toBe(outcomes.length);
    for (const { yard, branch, result } of results) {
      for (const { service, port } of result.outcomes) {
        const { env } = await ask(port);
        expect(env).toMatchObject({
          SWITCHYARD_BRANCH: branch,
          SWITCHYARD_SERVICE: service,
          SWITCHYARD_PROJECT_ROOT: yard.root,
        });
      }
    }
    // Each project contains only its own services.
    expect(Object.keys(one.services())).toHaveLength(BRANCHES.length * SERVICES.length);
    expect((await two.down({ branch: 'b' })).messages).toHaveLength(SERVICES.length);
    await one.down();
    await two.down();
    expect(one.alive()).toEqual([]);
  }, 120_000);
});
