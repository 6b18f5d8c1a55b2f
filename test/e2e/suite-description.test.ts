import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ownState, startGateway } from '../helpers/gateway.ts';
import { startClient, type RawClient } from '../helpers/raw-client.ts';
import { nodeServer, npmServer, type Project } from '../helpers/temp-project.ts';

const INSTRUCTIONS = '--instructions=Keeps an inventory of things. Ask it first.';
const things = nodeServer('echo', '--tools=echo,add', INSTRUCTIONS);

/** The description of each suite, as the host lists them. */
async function descriptions(client: RawClient): Promise<string[]> {
  return (await client.listTools()).map((tool) => tool.description as string);
}

/** A project whose one server has run once. */
async function projectOf(entry: object): Promise<Project> {
  const { client, project, introspect } = await startGateway({ things: { ...things, ...entry } });
  await introspect('things');
  await client.close();
  return project;
}

async function startAgain(project: Project, config?: object): Promise<RawClient> {
  if (config !== undefined) writeFileSync(project.path('switchboard.config.json'), JSON.stringify(config));
  const client = startClient({ cwd: project.dir, env: ownState(project) });
  await client.initialize();
  return client;
}

test('a server without a description is described by what it said when it last ran', async () => {
  const client = await startAgain(await projectOf({}));
  expect(await descriptions(client)).toEqual([
    'things: "Keeps an inventory of things." Subtools: echo, add.',
  ]);
});

test('a tool that is hidden from clients is not named', async () => {
  const client = await startAgain(await projectOf({ hiddenTools: ['add'] }));
  expect(await descriptions(client)).toEqual(['things: "Keeps an inventory of things." Subtools: echo.']);
});

test('the description stays as it is for as long as the client stays', async () => {
  const { client, introspect } = await startGateway({ things });
  const before = await descriptions(client);
  expect(before).toEqual(["Use this tool for things. Actions: 'introspect' | 'call'."]);
  await introspect('things');
  expect(await descriptions(client)).toEqual(before);
  const heard = client.notifications.map(({ method }) => method);
  expect(heard).not.toContain('notifications/tools/list_changed');
});

test('of all texts the most specific one is shown', async () => {
  const entry = { ...things, description: 'things' };
  const project = await projectOf(entry);
  expect(await descriptions(await startAgain(project))).toEqual([
    "Use this tool for things. Actions: 'introspect' | 'call'.",
  ]);
  writeFileSync(
    project.path('mcp-descriptions.json'),
    JSON.stringify({ mcps: { things: { switchboard: 'Things of the file.' } } }),
  );
  expect(await descriptions(await startAgain(project))).toEqual(['Things of the file.']);
  const mcpServers = { things: { ...entry, switchboardDescription: 'Things of the server.' } };
  expect(await descriptions(await startAgain(project, { mcpServers }))).toEqual(['Things of the server.']);
  const suites = { things: { description: 'Things of the suite.' } };
  expect(await descriptions(await startAgain(project, { mcpServers, suites }))).toEqual([
    'Things of the suite.',
  ]);
});

test('in the very first run, a server that many people use is known by what is started', async () => {
  const { client } = await startGateway({ notes: npmServer('memory') });
  expect((await descriptions(client))[0]).toContain('remembering facts about people');
});
