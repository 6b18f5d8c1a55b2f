/** Many processes that change one file at the same time: what says that it was done, is done. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runEditCommand } from '../helpers/edit-commands.ts';
import { createHostHome, FILES } from '../helpers/host-home.ts';
import { createProject } from '../helpers/temp-project.ts';

const CONFIG = 'switchboard.config.json';

/** Runs the work for each item, so many at a time. */
async function inBatches<T>(
  items: readonly T[],
  size: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const left = [...items];
  const next = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: size }, next));
}

test('no server that was added is lost', { timeout: 600_000 }, async () => {
  const project = createProject({ [CONFIG]: '{}' });
  const names = Array.from({ length: 96 }, (_, at) => `server-${at}`);
  await inBatches(names, 24, async (name) => {
    const { code, stdout, stderr } = await runEditCommand(project, ['add', name, '--', 'node', `${name}.js`]);
    expect([code, stdout, stderr]).toEqual([
      0,
      expect.stringContaining(`Added "${name}"`),
      expect.anything(),
    ]);
  });
  const { mcpServers } = JSON.parse(project.read(CONFIG)) as { mcpServers: object };
  expect(Object.keys(mcpServers).sort()).toEqual([...names].sort());
});

test('no project that was allowed is lost', { timeout: 300_000 }, async () => {
  const names = Array.from({ length: 16 }, (_, at) => `project-${at}`);
  const files = Object.fromEntries(
    names.map((name) => [`${name}/${CONFIG}`, { mcpServers: { a: { command: 'a' } } }]),
  );
  const project = createProject(files);
  const env = { SWITCHBOARD_ALLOW_PROJECT: undefined };
  await inBatches(names, 8, async (name) => {
    const { code } = await runEditCommand(project, ['allow', name, '--yes'], { env });
    expect(code).toBe(0);
  });
  const { json } = await runEditCommand(project, ['allow', '--list', '--json'], { env });
  expect((json.files as { path: string }[]).map(({ path }) => path).sort()).toEqual(
    names.map((name) => project.path(name, CONFIG)).sort(),
  );
});

test('no entry of a host is lost', { timeout: 300_000 }, async () => {
  const at = createHostHome();
  const names = Array.from({ length: 12 }, (_, index) => `gateway-${index}`);
  await inBatches(names, 6, async (name) => {
    const { code } = await at.run(['install', 'cursor', '--name', name]);
    expect(code).toBe(0);
  });
  const { mcpServers } = JSON.parse(readFileSync(at.home.path(FILES.cursor), 'utf8')) as {
    mcpServers: object;
  };
  expect(Object.keys(mcpServers)).toEqual(expect.arrayContaining(names));
});
