/**
 * Twenty servers, five of them broken in five ways: who works, works as if the others were not there.
 */
import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ownState, startGateway } from '../helpers/gateway.ts';
import { processesWith } from '../helpers/processes.ts';
import { startClient, textOf, type RawClient } from '../helpers/raw-client.ts';
import { createProject, nodeServer, type Project, type ServerCommand } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const GOOD = Array.from({ length: 15 }, (_, n) => `good${n + 1}`);
/** The first list does not wait long for the broken ones; the good ones are announced as they come. */
const FLAT = { exposure: 'flat', naming: 'plain', timeouts: { firstListMs: 500 } };

type Servers = Record<string, ServerCommand | (ServerCommand & Record<string, unknown>)>;

const good = (): Servers =>
  Object.fromEntries(
    GOOD.map((name) => [name, nodeServer('offering', `--name=${name}`, `--tools=${name}_look`, '--quiet')]),
  );

/** Each broken in its own way; `patience` is how long the gateway waits for the two that say nothing, in milliseconds. */
const bad = (project: Project, patience: number): Servers => {
  const timeouts = { childSpawnMs: patience, rpcMs: patience };
  return {
    missing: { command: project.path('there-is-no-such-program'), args: [], timeouts },
    quitter: nodeServer('late-bloomer', `--starts=${project.path('quitter')}`, '--works-from=never'),
    mute: { ...nodeServer('never-initialize'), framing: 'newline', timeouts },
    refusing: { ...nodeServer('bad-list'), timeouts },
    hanging: { ...nodeServer('bad-list', '--hang'), timeouts },
  };
};

/** What the log must say of each: its name and what is wrong with it, in one line. */
const REASONS: Readonly<Record<string, RegExp>> = {
  missing: /missing[^\n]*(?:command not found|ENOENT)/,
  quitter: /quitter[^\n]*exited with code 3/,
  mute: /mute[^\n]*did not respond to initialize/,
  refusing: /refusing[^\n]*the catalogue is on fire/,
  hanging: /hanging[^\n]*tools\/list/,
};

/** Good and bad ones mixed, the bad ones not at the end. */
function mixed(goodOnes: Servers, badOnes: Servers): Servers {
  const [first, ...rest] = Object.entries(goodOnes);
  const broken = Object.entries(badOnes);
  const entries = rest.flatMap((entry, index) => (index % 3 === 0 ? [broken[index / 3]!, entry] : [entry]));
  return Object.fromEntries([first!, ...entries]);
}

const toolsOf = (names: readonly string[]): string[] => names.map((name) => `${name}_look`);

/** The list once it has all of these, asked for again whenever it is said to have changed. */
async function listedWith(client: RawClient, wanted: readonly string[]): Promise<string[]> {
  for (;;) {
    const from = client.messages.length;
    const names = (await client.listTools()).map(({ name }): string => name);
    if (wanted.every((name) => names.includes(name))) return names;
    await client.waitFor(({ method }) => method === 'notifications/tools/list_changed', {
      from,
      deadline: 60_000,
    });
  }
}

/** How long it takes from the first start of the gateway until all good tools are listed, in milliseconds. */
async function timeToList(servers: Servers): Promise<number> {
  const project = createProject();
  project.write('switchboard.config.json', { ...FLAT, mcpServers: servers });
  const started = performance.now();
  const client = startClient({ cwd: project.dir, env: ownState(project), deadline: 60_000 });
  await client.initialize();
  const names = await listedWith(client, toolsOf(GOOD));
  const took = performance.now() - started;
  expect([...names].sort()).toEqual(toolsOf(GOOD).sort());
  await client.close();
  expect(processesWith(client.marker)).toEqual([]);
  return took;
}

test(
  'fifteen good servers are listed as fast with five broken ones beside them as alone',
  { timeout: 180_000 },
  async () => {
    const alone = await timeToList(good());
    // Whoever waits for the silent ones waits a minute for each.
    const beside = await timeToList(mixed(good(), bad(createProject(), 60_000)));
    expect(beside).toBeLessThan(3 * alone + 5000);
  },
);

test('calls are answered while the broken ones fail, and the log names each and its reason', async () => {
  const project = createProject();
  const { client } = await startGateway(mixed(good(), bad(project, 4000)), {
    config: FLAT,
    deadline: 30_000,
  });
  await listedWith(client, toolsOf(GOOD));
  let rounds = 0;
  const unexplained = (): string[] =>
    Object.entries(REASONS).flatMap(([name, reason]) => (reason.test(client.stderr) ? [] : [name]));
  const round = async (): Promise<boolean> => {
    const answers = await Promise.all(
      GOOD.map(async (name) => textOf(await client.call(`${name}_look`, { n: rounds }))),
    );
    expect(answers).toEqual(GOOD.map((name) => `${name} ran ${name}_look with {"n":${rounds}}`));
    rounds++;
    return unexplained().length === 0;
  };
  await until(round, {
    what: 'the log to tell of all five',
    deadline: 40_000,
    seen: () => `nothing of ${unexplained().join(', ')} in:\n${client.stderr.slice(-4000)}`,
  });
  expect(rounds).toBeGreaterThan(1);
  expect(client.ledger.unanswered()).toEqual([]);
  const { code } = await client.close();
  expect(code).toBe(0);
  expect(processesWith(client.marker)).toEqual([]);
});

test(
  'a broken server is tried again, ever more rarely, and is listed when it works',
  { timeout: 90_000 },
  async () => {
    const project = createProject();
    const starts = (name: string): number[] => {
      const file = project.path(name);
      return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n').map(Number) : [];
    };
    const { client } = await startGateway(
      {
        steady: nodeServer('offering', '--name=steady', '--tools=steady_look', '--quiet'),
        late: nodeServer('late-bloomer', `--starts=${project.path('late')}`, '--tools=bloom'),
        never: nodeServer('late-bloomer', `--starts=${project.path('never')}`, '--works-from=never'),
      },
      { config: FLAT, deadline: 30_000 },
    );
    expect(await listedWith(client, ['steady_look'])).toEqual(['steady_look']);
    expect(await listedWith(client, ['bloom'])).toEqual(['steady_look', 'bloom']);
    expect(client.notifications.some(({ method }) => method === 'notifications/tools/list_changed')).toBe(
      true,
    );
    expect(textOf(await client.call('bloom'))).toBe('in bloom since start 3');
    expect(starts('late')).toHaveLength(3);

    const times = await until(
      () => {
        const seen = starts('never');
        return seen.length >= 4 ? seen : undefined;
      },
      { what: 'four starts of the server that never works', deadline: 45_000 },
    );
    // Each pause is several times the one before; the third against the first shows on the busiest machine.
    expect(times[3]! - times[2]!).toBeGreaterThan(2 * (times[1]! - times[0]!));
    expect(times.length).toBeLessThanOrEqual(5);
    expect(textOf(await client.call('steady_look'))).toBe('steady ran steady_look with {}');
  },
);
