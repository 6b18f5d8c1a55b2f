/** What servers listed in an earlier run is there at once in the next one; what has changed since is announced. */
import { appendFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { ownState } from '../helpers/gateway.ts';
import { readJournal } from '../helpers/journal.ts';
import { startClient, textOf, type RawClient } from '../helpers/raw-client.ts';
import { createProject, nodeServer, type Project } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const TOOLS_CHANGED = 'notifications/tools/list_changed';

const tools = async (client: RawClient): Promise<string[]> =>
  (await client.listTools()).map(({ name }) => name as string);

async function listOf(client: RawClient, method: string, member: string): Promise<any[]> {
  return (await client.request(method)).result[member];
}

/** A project with these servers, whose processes all write to one journal. */
function projectOf(servers: object, config: object = {}) {
  const project = createProject();
  const journal = project.path('journal');
  configure(project, servers, config);
  return {
    project,
    starts: () => readJournal(journal).filter(({ event }) => event === 'start').length,
    /** The next run of the gateway. */
    run: async (): Promise<RawClient> => {
      const client = startClient({
        cwd: project.dir,
        env: { ...ownState(project), TEST_SERVER_JOURNAL: journal },
      });
      await client.initialize();
      return client;
    },
  };
}

function configure(project: Project, mcpServers: object, config: object = {}): void {
  writeFileSync(project.path('switchboard.config.json'), JSON.stringify({ mcpServers, ...config }));
}

/** A flat server whose tools are the lines of a file. */
function fromFile(project: Project, file: string, more: object = {}) {
  return {
    ...nodeServer('offering', '--quiet', `--tools-file=${project.path(file)}`),
    exposure: 'flat',
    ...more,
  };
}

/** One run in which everything is listed and called once. */
async function firstRun(run: () => Promise<RawClient>, called?: string): Promise<void> {
  const client = await run();
  await tools(client);
  if (called !== undefined) await client.call(called);
  await client.close();
}

describe('flat tools', () => {
  function shop(lines: string, more: object = {}) {
    const made = projectOf({});
    writeFileSync(made.project.path('tools.txt'), lines);
    configure(made.project, { shop: fromFile(made.project, 'tools.txt', more) });
    return made;
  }

  test('are in the first list of the next run, and nothing is started for it', async () => {
    const { run, starts } = shop('buy\nsell\n');
    await firstRun(run);
    expect(starts()).toBe(1);
    const next = await run();
    expect(await tools(next)).toEqual(['shop__buy', 'shop__sell']);
    expect(starts()).toBe(1);
    expect(textOf(await next.call('shop__buy', { n: 1 }))).toMatch(/ran buy with {"n":1}/);
    expect(starts()).toBe(2);
  });

  test('that the server has gained are announced when it runs; one it has lost is refused with that reason', async () => {
    const { run, project } = shop('buy\nsell\n');
    await firstRun(run);
    writeFileSync(project.path('tools.txt'), 'buy\nreturn\n');
    const next = await run();
    expect(await tools(next)).toEqual(['shop__buy', 'shop__sell']);
    const refused = await next.call('shop__sell');
    expect(JSON.stringify(refused)).toMatch(
      /shop__sell.* is no longer available: its server 'shop' no longer has it/,
    );
    await next.waitFor(({ method }) => method === TOOLS_CHANGED);
    expect(await tools(next)).toEqual(['shop__buy', 'shop__return']);
  });

  test('that are the same as before are not announced', async () => {
    const { run } = shop('buy\n');
    await firstRun(run);
    const next = await run();
    await tools(next);
    expect(textOf(await next.call('shop__buy'))).toMatch(/ran buy/);
    await next.request('ping');
    expect(next.notifications.map(({ method }) => method)).not.toContain(TOOLS_CHANGED);
  });

  test('follow the policies of this run', async () => {
    const { run, project, starts } = shop('buy\nsell\nsteal\n');
    await firstRun(run);
    const shaped = {
      hiddenTools: ['steal'],
      tools: { sell: { name: 'offer', description: 'Offers it', presets: { at: 'cost' } } },
    };
    configure(project, { shop: fromFile(project, 'tools.txt', shaped) });
    const next = await run();
    expect(await tools(next)).toEqual(['shop__buy', 'shop__offer']);
    expect(starts()).toBe(1);
    expect(JSON.stringify(await next.call('shop__steal'))).toMatch(/not allowed/);
    expect(textOf(await next.call('shop__offer'))).toMatch(/ran sell with {"at":"cost"}/);
  });

  test('are forgotten with another configuration, and not with another name', async () => {
    const { run, project, starts } = shop('buy\n');
    await firstRun(run);
    configure(project, { market: fromFile(project, 'tools.txt') });
    const renamed = await run();
    expect(await tools(renamed)).toEqual(['market__buy']);
    expect(starts()).toBe(1);
    await renamed.close();
    configure(project, { shop: fromFile(project, 'tools.txt', { env: { MODE: 'other' } }) });
    const other = await run();
    expect(await tools(other)).toEqual(['shop__buy']);
    expect(starts()).toBe(2);
  });

  test('of a server that does not start any more say so when they are called', async () => {
    const { run, project } = shop('buy\n');
    await firstRun(run);
    rmSync(project.path('tools.txt'));
    const next = await run();
    expect(await tools(next)).toEqual(['shop__buy']);
    const refused = await next.call('shop__buy');
    expect(refused.result?.isError ?? refused.error !== undefined).toBe(true);
    expect(JSON.stringify(refused)).toMatch(/shop__buy.*'shop' was not run.*ENOENT/);
  });

  test('are asked for again where the file that remembers them is damaged', async () => {
    const { run, project, starts } = shop('buy\n');
    await firstRun(run);
    const memory = project.path('.state/servers');
    const [file] = readdirSync(memory);
    const good = readFileSync(join(memory, file!), 'utf8');
    const damages = [
      '',
      good.slice(0, good.indexOf('buy')),
      good.replace('"name":"buy"', '"name":7'),
      `${good}${' '.repeat(2 ** 21)}`,
    ];
    for (const damage of damages) {
      writeFileSync(join(memory, file!), damage);
      const before = starts();
      const next = await run();
      expect(await tools(next)).toEqual(['shop__buy']);
      expect(starts()).toBe(before + 1);
      await next.close();
      expect(readFileSync(join(memory, file!), 'utf8')).toBe(good);
    }
  });

  test('that several gateways learn at the same time are kept whole', async () => {
    const { run, project, starts } = shop('buy\nsell\n');
    await Promise.all(Array.from({ length: 4 }, () => firstRun(run)));
    const before = starts();
    expect(await tools(await run())).toEqual(['shop__buy', 'shop__sell']);
    expect(starts()).toBe(before);
    expect(readdirSync(project.path('.state/servers'))).toHaveLength(1);
  });

  test('that repeat a secret are not written down', async () => {
    const { run, project } = shop('key_hunter2hunter2\n', { env: { API_TOKEN: 'hunter2hunter2' } });
    const client = await run();
    expect(await tools(client)).toEqual(['shop__key_hunter2hunter2']);
    await client.close();
    const memory = project.path('.state/servers');
    for (const file of readdirSync(memory))
      expect(readFileSync(join(memory, file), 'utf8')).not.toMatch(/hunter/);
  });

  test('of a server without any are asked for in every run', async () => {
    const { run, project } = shop('');
    await firstRun(run);
    appendFileSync(project.path('tools.txt'), 'buy\n');
    expect(await tools(await run())).toEqual(['shop__buy']);
  });
});

describe('resources and prompts', () => {
  const offering = nodeServer(
    ...([
      'offering',
      '--tools=x',
      '--resources=demo://a',
      '--templates=demo://{id}',
      '--prompts=ask',
    ] as const),
  );

  const lists = async (client: RawClient) => [
    (await listOf(client, 'resources/list', 'resources')).map(({ uri }) => uri),
    (await listOf(client, 'resources/templates/list', 'resourceTemplates')).map(
      ({ uriTemplate }) => uriTemplate,
    ),
    (await listOf(client, 'prompts/list', 'prompts')).map(({ name }) => name),
  ];
  const ALL = [['demo://a'], ['demo://{id}'], ['s__ask']];

  test('of a suite are not worth a start; they are announced when it runs, and remembered', async () => {
    const { run, starts } = projectOf({ s: offering });
    const first = await run();
    expect(await lists(first)).toEqual([[], [], []]);
    expect(starts()).toBe(0);
    await first.call('s_suite', { action: 'call', subtool: 'x' });
    for (const kind of ['resources', 'prompts'])
      await first.waitFor(({ method }) => method === `notifications/${kind}/list_changed`);
    // Resources and their templates come in one after the other.
    await until(async () => isDeepStrictEqual(await lists(first), ALL), { what: 'all lists' });
    await first.close();
    const next = await run();
    expect(await lists(next)).toEqual(ALL);
    expect(starts()).toBe(1);
    const read = await next.request('resources/read', { uri: 'demo://a' });
    expect(JSON.stringify(read.result)).toContain('has demo://a');
    expect(starts()).toBe(2);
  });

  test('of a flat server are complete in the first run, and there without a start in the next', async () => {
    const { run, starts } = projectOf({ s: { ...offering, exposure: 'flat' } });
    const first = await run();
    expect(await lists(first)).toEqual(ALL);
    await first.close();
    expect(await lists(await run())).toEqual(ALL);
    expect(starts()).toBe(1);
  });
});
