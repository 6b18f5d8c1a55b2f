/** What the annotations of a suite say, and what its two halves run, with real servers and the built program. */
import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ownState, startGateway } from '../helpers/gateway.ts';
import { responseText, startClient, textOf, type RawClient } from '../helpers/raw-client.ts';
import { nodeServer, npmServer } from '../helpers/temp-project.ts';

const READ = { name: 'read', annotations: { readOnlyHint: true, openWorldHint: false } };
const WRITE = { name: 'write', annotations: { destructiveHint: false } };

const annotationsOf = async (client: RawClient, name: string): Promise<unknown> =>
  (await client.listTools()).find((tool) => tool.name === name)?.annotations;

test('annotations come with the second start, and are withdrawn when they stop being true', async () => {
  const first = await startGateway({ box: nodeServer('from-file', '--file=tools.json') }, { raw: true });
  const { project } = first;
  const offer = (...tools: object[]): void =>
    writeFileSync(project.path('tools.json'), JSON.stringify(tools));
  offer(READ);
  await first.client.initialize();
  expect(await annotationsOf(first.client, 'box_suite')).toBeUndefined();
  expect(textOf(await first.call('box', 'read'))).toBe('ran read {}');
  await first.client.close();

  const client = startClient({ cwd: project.dir, env: ownState(project) });
  await client.initialize();
  expect(await annotationsOf(client, 'box_suite')).toMatchObject({ readOnlyHint: true });
  // The server was updated: the host may have let this call pass because of what it was told.
  offer(READ, WRITE);
  const call = { action: 'call', subtool: 'write' };
  expect(responseText(await client.call('box_suite', call))).toMatch(/was not run.*has changed its tools/);
  await client.waitFor(({ method }) => method === 'notifications/tools/list_changed');
  expect(await annotationsOf(client, 'box_suite')).toMatchObject({
    readOnlyHint: false,
    destructiveHint: false,
    openWorldHint: true,
  });
  expect(textOf(await client.call('box_suite', call))).toBe('ran write {}');
});

test('split by effect, a real file server cannot be made to write through its reading tool', async () => {
  const { client, project } = await startGateway(
    { files: npmServer('filesystem', '.') },
    { config: { suite: { split: 'effect' } } },
  );
  expect(await annotationsOf(client, 'files_read')).toMatchObject({ readOnlyHint: true });
  const path = project.path('new.txt');
  const write = { action: 'call', subtool: 'write_file', args: { path, content: 'x' } };
  expect(responseText(await client.call('files_read', write))).toContain(
    "Call it with the tool 'files_suite'",
  );
  expect(textOf(await client.call('files_suite', write))).toMatch(/wrote/);
  const read = { action: 'call', subtool: 'read_text_file', args: { path } };
  expect(textOf(await client.call('files_read', read))).toBe('x');
  expect(textOf(await client.call('files_read', { action: 'introspect' }))).not.toContain('write_file');
});
