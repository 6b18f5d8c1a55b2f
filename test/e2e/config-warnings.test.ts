/** What is odd in a configuration is told on stderr when the gateway starts, and costs no server. */
import { expect, test } from 'vitest';
import { ownState } from '../helpers/gateway.ts';
import { startClient, textOf, type RawClient } from '../helpers/raw-client.ts';
import { createProject, nodeServer, type Project } from '../helpers/temp-project.ts';

async function open(config: object | string): Promise<{ client: RawClient; project: Project }> {
  const project = createProject({ 'switchboard.config.json': config });
  const client = startClient({ cwd: project.dir, env: ownState(project) });
  await client.initialize();
  return { client, project };
}

/** What is said of the configuration, without the time and the file. */
function linesOf({ client, project }: { client: RawClient; project: Project }): string[] {
  const file = `${project.path('switchboard.config.json')}: `;
  return client.stderr
    .split('\n')
    .filter((line) => line.includes(file))
    .map((line) => line.replace(/^\S+Z switchboard /, '').replace(file, ''));
}

test('keys of other hosts and unknown keys are told in a line each, and the server answers', async () => {
  const echo = { ...nodeServer('echo'), alwaysAllow: ['echo'], autoApprove: [], desription: 'x' };
  const gateway = await open({ mcpServers: { echo, other: { ...nodeServer('echo'), alwaysAllow: [] } } });
  const call = { action: 'call', subtool: 'echo', args: { text: 'well' } };
  for (const server of ['echo', 'other'])
    expect(textOf(await gateway.client.call(`${server}_suite`, call))).toBe('well');
  expect(linesOf(gateway).sort()).toEqual([
    'info  mcpServers.echo.alwaysAllow: is a setting of another host and has no effect here',
    'info  mcpServers.echo.autoApprove: is a setting of another host and has no effect here',
    'warn  mcpServers.echo.desription: is not a known key and is ignored. Did you mean "description"?',
  ]);
});

test('two servers, suites or tools of one name are told with both, and all can be called', async () => {
  const entry = (more: object = {}): string => JSON.stringify({ ...nodeServer('echo'), ...more });
  const flat = { exposure: 'flat', tools: { echo: { name: 'say' } } };
  const gateway = await open(`{ "naming": "plain", "mcpServers": {
    "twice": ${entry({ description: 'first' })},
    "twice": ${entry({ suiteName: 'same' })},
    "suite": ${entry({ suiteName: 'same' })},
    "one": ${entry(flat)},
    "two": ${entry(flat)}
  } }`);
  const file = gateway.project.path('switchboard.config.json');
  expect(linesOf(gateway)).toEqual([
    'warn  mcpServers.twice: appears twice, on lines 2 and 3; the last one is used',
    `warn  mcpServers.suite: the suite of "suite" has the same tool name as the suite of "twice" in ${file} (mcpServers.twice): "same". Rename one of them`,
    `warn  mcpServers.two.tools.echo: the tool "echo" of "two" has the same tool name as the tool "echo" of "one" in ${file} (mcpServers.one.tools.echo): "say". Rename one of them`,
  ]);
  const tools = (await gateway.client.listTools()).map(({ name }) => name);
  const echoes = tools.filter((name) => /same|say/.test(name));
  expect(echoes).toHaveLength(4);
  for (const name of echoes) {
    const args = { text: name };
    const suite = { action: 'call', subtool: 'echo', args };
    expect(textOf(await gateway.client.call(name, name.includes('say') ? args : suite))).toBe(name);
  }
});
