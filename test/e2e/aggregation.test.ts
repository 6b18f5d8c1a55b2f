/**
 * Several servers behind one client: everything they offer stands in one list each, is found under its own name, and
 * what happens to one happens to that one only.
 */
import { describe, expect, test } from 'vitest';
import { ownState, startGateway, type GatewayOptions, type TestGateway } from '../helpers/gateway.ts';
import { processesWith } from '../helpers/processes.ts';
import { startClient, textOf, type RawClient, type RpcMessage } from '../helpers/raw-client.ts';
import { nodeServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const FLAT = { exposure: 'flat', naming: 'plain' };

interface Offer {
  readonly tools?: string[];
  readonly resources?: string[];
  readonly templates?: string[];
  readonly prompts?: string[];
}

/** A server of that name that offers these; `quiet` without its own tools. */
function offering(name: string, offer: Offer, ...flags: string[]) {
  const lists = Object.entries(offer).map(
    ([kind, names]: [string, string[]]) => `--${kind}=${names.join(',')}`,
  );
  return nodeServer('offering', `--name=${name}`, ...lists, ...flags);
}

/** Two servers that have everything in common, and something of their own. */
const twins = () => {
  const of = (name: string) =>
    offering(name, {
      tools: ['look', `only_${name}`],
      resources: ['demo://same', `demo://only-${name}`],
      templates: ['demo://item/{id}', `demo://${name}/{id}/{part}`],
      prompts: ['ask', `ask_${name}`],
    });
  return { left: of('left'), right: of('right') };
};

const startTwins = (options: GatewayOptions = {}): Promise<TestGateway> =>
  startGateway(twins(), { config: FLAT, ...options });

/** A list in full. */
async function list(client: RawClient, method: string): Promise<any[]> {
  const { result, error } = await client.request(method);
  if (result === undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
  const [items] = Object.values(result).filter(Array.isArray);
  return items ?? [];
}

/** A list once it has all of these, asked for again whenever it is said to have changed. */
async function listWith(client: RawClient, method: string, key: string, names: string[]): Promise<any[]> {
  const changed = `notifications/${method.split('/')[0]}/list_changed`;
  for (;;) {
    const from = client.messages.length;
    const items = await list(client, method);
    if (names.every((name) => items.some((item) => item[key] === name))) return items;
    await client.waitFor((message) => message.method === changed, { from });
  }
}

const read = async (client: RawClient, uri: string): Promise<string> => {
  const { result, error } = await client.request('resources/read', { uri });
  if (error) throw new Error(`${uri}: ${JSON.stringify(error)}`);
  return result.contents[0].text;
};

const prompt = async (client: RawClient, name: string, args?: object): Promise<string> => {
  const { result, error } = await client.request('prompts/get', { name, arguments: args });
  if (error) throw new Error(`${name}: ${JSON.stringify(error)}`);
  return result.messages[0].content.text;
};

const complete = async (client: RawClient, ref: object, name: string, value: string): Promise<string> => {
  const { result, error } = await client.request('completion/complete', { ref, argument: { name, value } });
  if (error) throw new Error(`${JSON.stringify(ref)}: ${JSON.stringify(error)}`);
  return result.completion.values[0];
};

const state = async (client: RawClient, tool: string): Promise<any> =>
  JSON.parse(textOf(await client.call(tool)));

const heard = (client: RawClient, method: string): RpcMessage[] =>
  client.notifications.filter((message) => message.method === method);

describe('two servers with the same names', () => {
  test('plain: the first keeps its tools’ names, and every tool is run by its own server', async () => {
    const { client } = await startTwins();
    const tools = await listWith(client, 'tools/list', 'name', ['look', 'right__look']);
    const described = Object.fromEntries(tools.map(({ name, description }) => [name, description]));
    expect(described).toMatchObject({
      look: '[left] A tool of left.',
      only_left: '[left] A tool of left.',
      right__look: '[right] A tool of right.',
      only_right: '[right] A tool of right.',
    });
    expect(described).not.toHaveProperty('left__look');
    expect(described).not.toHaveProperty('right__only_right');
    for (const [tool, answer] of [
      ['look', 'left ran look with {"n":1}'],
      ['right__look', 'right ran look with {"n":1}'],
      ['only_left', 'left ran only_left with {"n":1}'],
      ['only_right', 'right ran only_right with {"n":1}'],
    ] as const) {
      expect(textOf(await client.call(tool, { n: 1 }))).toBe(answer);
    }
    expect((await client.call('left__look')).error?.code).toBe(-32602);
  });

  test('prefixed: every tool and prompt has its server in front, and nothing else is changed', async () => {
    const { client } = await startTwins({ config: { exposure: 'flat', naming: 'prefixed' } });
    const tools = await listWith(client, 'tools/list', 'name', ['left__look', 'right__look']);
    const described = Object.fromEntries(tools.map(({ name, description }) => [name, description]));
    expect(described).toMatchObject({ left__look: 'A tool of left.', right__look: 'A tool of right.' });
    for (const name of Object.keys(described)) expect(name).toMatch(/^(left|right)__/);
    for (const server of ['left', 'right']) {
      expect(textOf(await client.call(`${server}__look`))).toBe(`${server} ran look with {}`);
      expect(await prompt(client, `${server}__ask`)).toBe(`${server} says ask with {}`);
    }
    const prompts = await list(client, 'prompts/list');
    expect(prompts.map(({ name, description }) => [name, description])).toEqual([
      ['left__ask', 'A prompt of left.'],
      ['left__ask_left', 'A prompt of left.'],
      ['right__ask', 'A prompt of right.'],
      ['right__ask_right', 'A prompt of right.'],
    ]);
    expect((await client.call('look')).error?.code).toBe(-32602);
  });

  test('resources and templates are listed with their server, and read from it', async () => {
    const { client } = await startTwins();
    const resources = await listWith(client, 'resources/list', 'uri', [
      'demo://only-left',
      'demo://only-right',
    ]);
    expect(resources.map(({ uri, name }) => [uri, name])).toEqual([
      ['demo://same', '[left] same of left'],
      ['demo://only-left', '[left] only-left of left'],
      ['switchboard://right/demo://same', '[right] same of right'],
      ['demo://only-right', '[right] only-right of right'],
    ]);
    const templates = await list(client, 'resources/templates/list');
    expect(templates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'demo://item/{id}',
      'demo://left/{id}/{part}',
      'switchboard://right/demo://item/{id}',
      'demo://right/{id}/{part}',
    ]);
    for (const [uri, text] of [
      ['demo://same', 'left has demo://same'],
      ['demo://only-left', 'left has demo://only-left'],
      ['switchboard://right/demo://same', 'right has demo://same'],
      ['demo://only-right', 'right has demo://only-right'],
      ['demo://item/7', 'left made demo://item/7'],
      ['demo://left/7/b', 'left made demo://left/7/b'],
      ['switchboard://right/demo://item/7', 'right made demo://item/7'],
      ['demo://right/7/b', 'right made demo://right/7/b'],
    ] as const) {
      expect(await read(client, uri)).toBe(text);
    }
  });

  test('prompts are listed with their server and come from it', async () => {
    const { client } = await startTwins();
    const prompts = await listWith(client, 'prompts/list', 'name', ['ask', 'right__ask']);
    expect(prompts.map(({ name, description }) => [name, description])).toEqual([
      ['ask', '[left] A prompt of left.'],
      ['ask_left', '[left] A prompt of left.'],
      ['right__ask', '[right] A prompt of right.'],
      ['ask_right', '[right] A prompt of right.'],
    ]);
    expect(await prompt(client, 'ask', { topic: 't' })).toBe('left says ask with {"topic":"t"}');
    expect(await prompt(client, 'right__ask', { topic: 't' })).toBe('right says ask with {"topic":"t"}');
    expect(await prompt(client, 'ask_right')).toBe('right says ask_right with {}');
    const missing = await client.request('prompts/get', { name: 'left__ask' });
    expect(missing.error?.code).toBe(-32602);
    expect(missing.error?.message).toContain('left__ask');
  });

  test('arguments of prompts and templates are completed by their server', async () => {
    const { client } = await startTwins();
    await listWith(client, 'prompts/list', 'name', ['ask', 'right__ask']);
    for (const [name, answer] of [
      ['ask', 'left completes ask topic=x'],
      ['right__ask', 'right completes ask topic=x'],
      ['ask_right', 'right completes ask_right topic=x'],
    ] as const) {
      expect(await complete(client, { type: 'ref/prompt', name }, 'topic', 'x')).toBe(answer);
    }
    for (const [uri, answer] of [
      ['demo://item/{id}', 'left completes demo://item/{id} id=7'],
      ['switchboard://right/demo://item/{id}', 'right completes demo://item/{id} id=7'],
      ['demo://right/{id}/{part}', 'right completes demo://right/{id}/{part} id=7'],
    ] as const) {
      expect(await complete(client, { type: 'ref/resource', uri }, 'id', '7')).toBe(answer);
    }
  });

  test('one that is killed takes only its own with it, and comes back', async () => {
    const { client } = await startTwins();
    await listWith(client, 'tools/list', 'name', ['look', 'right__look']);
    const doomed = client.call('slow', { ms: 120_000 });
    const spared = client.call('right__slow', { ms: 500 });
    // Each server takes its requests in turn: when these are answered, both calls are running.
    const [{ pid }] = await Promise.all([state(client, 'state'), state(client, 'right__state')]);
    process.kill(pid, 'SIGKILL');
    const failed = await doomed;
    expect(failed.error !== undefined || failed.result.isError === true).toBe(true);
    expect(JSON.stringify(failed)).toContain('left');
    expect(textOf(await client.call('right__look'))).toBe('right ran look with {}');
    expect(await read(client, 'switchboard://right/demo://same')).toBe('right has demo://same');
    expect(await read(client, 'demo://right/1/2')).toBe('right made demo://right/1/2');
    expect(await prompt(client, 'right__ask')).toBe('right says ask with {}');
    expect(textOf(await spared)).toBe('right slept');
    const again = await until(
      async () => {
        const response = await client.call('look');
        return response.error || response.result.isError === true ? undefined : response;
      },
      { what: 'the killed server to come back' },
    );
    expect(textOf(again)).toBe('left ran look with {}');
    expect(await read(client, 'demo://same')).toBe('left has demo://same');
    expect((await state(client, 'state')).pid).not.toBe(pid);
  });
});

describe('subscriptions', () => {
  const UPDATED = 'notifications/resources/updated';

  test('only what is subscribed arrives, under the URI the client knows', async () => {
    const { client } = await startTwins();
    await listWith(client, 'resources/list', 'uri', ['demo://only-left', 'demo://only-right']);
    const uris = (): string[] => heard(client, UPDATED).map(({ params }) => params.uri);
    // What a server sends before it answers has come when the answer has.
    const touch = (tool: string, uri: string) => client.call(tool, { uri });
    await touch('touch', 'demo://same');
    await touch('right__touch', 'demo://same');
    expect((await client.request('resources/subscribe', { uri: 'demo://same' })).result).toEqual({});
    await touch('touch', 'demo://only-left');
    await touch('right__touch', 'demo://same');
    await touch('touch', 'demo://same');
    await client.waitFor(({ method }) => method === UPDATED);
    expect(uris()).toEqual(['demo://same']);
    expect((await state(client, 'state')).subscribed).toEqual(['demo://same']);
    expect((await state(client, 'right__state')).subscribed).toEqual([]);

    const theirs = 'switchboard://right/demo://same';
    expect((await client.request('resources/subscribe', { uri: theirs })).result).toEqual({});
    expect((await state(client, 'right__state')).subscribed).toEqual(['demo://same']);
    await touch('right__touch', 'demo://same');
    await client.waitFor(({ method, params }) => method === UPDATED && params.uri === theirs);
    expect(uris()).toEqual(['demo://same', theirs]);

    expect((await client.request('resources/unsubscribe', { uri: 'demo://same' })).result).toEqual({});
    expect((await state(client, 'state')).subscribed).toEqual([]);
    await touch('touch', 'demo://same');
    await touch('right__touch', 'demo://same');
    await client.waitUntil(() => (uris().length >= 3 ? true : undefined), 'the third update');
    expect(uris()).toEqual(['demo://same', theirs, theirs]);
  });

  test('a URI that a template covers can be subscribed to', async () => {
    const { client } = await startTwins();
    await listWith(client, 'resources/list', 'uri', ['demo://only-left', 'demo://only-right']);
    const uri = 'switchboard://right/demo://item/7';
    expect((await client.request('resources/subscribe', { uri })).result).toEqual({});
    await client.call('right__touch', { uri: 'demo://item/8' });
    await client.call('right__touch', { uri: 'demo://item/7' });
    expect((await client.waitFor(({ method }) => method === UPDATED)).params.uri).toBe(uri);
    expect(heard(client, UPDATED)).toHaveLength(1);
  });
});

describe('lists that change', () => {
  const KINDS = [
    { kind: 'tool', method: 'tools/list', key: 'name', one: 'grown' },
    { kind: 'resource', method: 'resources/list', key: 'uri', one: 'demo://grown' },
    { kind: 'template', method: 'resources/templates/list', key: 'uriTemplate', one: 'demo://grown/{x}' },
    { kind: 'prompt', method: 'prompts/list', key: 'name', one: 'grown_prompt' },
  ];
  const notice = (method: string) => `notifications/${method.split('/')[0]!}/list_changed`;

  /** Both servers are there, and every list was asked for once. */
  async function settled(): Promise<RawClient> {
    const { client } = await startTwins();
    await listWith(client, 'tools/list', 'name', ['look', 'right__look']);
    await listWith(client, 'resources/list', 'uri', ['demo://only-left', 'demo://only-right']);
    await listWith(client, 'prompts/list', 'name', ['ask', 'right__ask']);
    await list(client, 'resources/templates/list');
    return client;
  }

  test.each(KINDS)('a new $kind is announced once and is available', async ({ kind, method, key, one }) => {
    const client = await settled();
    const from = client.messages.length;
    const before = client.notifications.length;
    await client.call('right__add', { kind, names: [one] });
    await client.waitFor((message) => message.method === notice(method), { from });
    expect((await list(client, method)).map((item) => item[key])).toContain(one);
    // The next change is told of by the next notice: there was no other in between.
    await client.call('right__remove', { kind, names: [one] });
    await client.waitUntil(
      () => (heardSince(client, before, notice(method)) >= 2 ? true : undefined),
      'the second notice',
    );
    expect((await list(client, method)).map((item) => item[key])).not.toContain(one);
    expect(heardSince(client, before)).toBe(2);
  });

  test.each(KINDS)('many a new $kind at once are one change', async ({ kind, method, key, one }) => {
    const client = await settled();
    const from = client.messages.length;
    const before = client.notifications.length;
    const names = Array.from({ length: 20 }, (_, n) => `${one}${n}`);
    await client.call('add', { kind, names });
    await client.waitFor((message) => message.method === notice(method), { from });
    expect((await list(client, method)).map((item) => item[key])).toEqual(expect.arrayContaining(names));
    await client.call('add', { kind, names: [`${one}-last`] });
    await client.waitUntil(
      () => (heardSince(client, before, notice(method)) >= 2 ? true : undefined),
      'the notice of the last',
    );
    expect(heardSince(client, before)).toBe(2);
  });

  test.each(KINDS)('a server that says so of a $kind without a change is not believed', async (it) => {
    const { kind, method, one } = it;
    const client = await settled();
    const before = client.notifications.length;
    const lists = (await state(client, 'state')).lists[method];
    await client.call('relist_storm', { n: 200, kind });
    const after = await until(
      async () => {
        const now = (await state(client, 'state')).lists[method];
        return now > lists ? now : undefined;
      },
      { what: 'the list to be read again' },
    );
    expect(after - lists).toBeLessThanOrEqual(4);
    // The answer to the list came before that to this call: whatever it led to is under way before the next change.
    await client.call('add', { kind, names: [one] });
    await client.waitUntil(
      () => (heardSince(client, before, notice(method)) >= 1 ? true : undefined),
      'the notice of the real change',
    );
    expect(heardSince(client, before)).toBe(1);
  });

  test('a tool with a new description is a change', async () => {
    const client = await settled();
    const from = client.messages.length;
    await client.call('redescribe', { text: 'A better tool' });
    await client.waitFor(({ method }) => method === notice('tools/list'), { from });
    const tools = await list(client, 'tools/list');
    expect(tools.find(({ name }) => name === 'look').description).toBe('[left] A better tool of left.');
    expect(tools.find(({ name }) => name === 'right__look').description).toBe('[right] A tool of right.');
  });

  test('a new tool that clashes with an old one leaves the old one its name', async () => {
    const client = await settled();
    await client.call('right__add', { kind: 'tool', names: ['only_left'] });
    await listWith(client, 'tools/list', 'name', ['only_left', 'right__only_left']);
    expect(textOf(await client.call('only_left'))).toBe('left ran only_left with {}');
    expect(textOf(await client.call('right__only_left'))).toBe('right ran only_left with {}');
  });

  test('two servers that change at once are both heard', async () => {
    const client = await settled();
    const before = client.notifications.length;
    await Promise.all([
      client.call('add', { kind: 'tool', names: ['from_left'] }),
      client.call('right__add', { kind: 'tool', names: ['from_right'] }),
    ]);
    await listWith(client, 'tools/list', 'name', ['from_left', 'from_right']);
    expect(heardSince(client, before)).toBeLessThanOrEqual(2);
  });

  function heardSince(client: RawClient, before: number, method?: string): number {
    return client.notifications
      .slice(before)
      .filter((message) => method === undefined || message.method === method).length;
  }
});

describe('exposures', () => {
  test('flat, suite and hidden servers share one list, each as its entry says', async () => {
    const { client, call } = await startGateway(
      {
        open: { ...offering('open', { tools: ['look'] }, '--quiet'), exposure: 'flat' },
        boxed: offering('boxed', { tools: ['look'] }, '--quiet'),
        secret: { ...offering('secret', { tools: ['look', 'peek'] }, '--quiet'), exposure: 'hidden' },
        wide: { ...offering('wide', { tools: ['look', 'gaze'] }, '--quiet'), exposure: 'flat' },
      },
      { config: { exposure: 'suite', naming: 'plain' } },
    );
    const tools = await listWith(client, 'tools/list', 'name', ['look', 'boxed_suite', 'gaze']);
    expect(tools.map(({ name }) => name)).toEqual(['look', 'boxed_suite', 'wide__look', 'gaze']);
    expect(textOf(await client.call('look'))).toBe('open ran look with {}');
    expect(textOf(await client.call('wide__look'))).toBe('wide ran look with {}');
    expect(textOf(await call('boxed', 'look', { a: 1 }))).toBe('boxed ran look with {"a":1}');
    for (const name of ['peek', 'secret__look', 'secret_suite', 'open_suite']) {
      const { error } = await client.call(name);
      expect(error?.code, name).toBe(-32602);
      expect(error?.message).toContain(name);
    }
  });

  test('resources and prompts of a server shown as a suite are there too', async () => {
    const { client, introspect } = await startGateway(
      {
        boxed: offering('boxed', {
          tools: ['look'],
          resources: ['demo://boxed'],
          templates: ['demo://boxed/{id}'],
          prompts: ['ask'],
        }),
      },
      { config: { exposure: 'suite', naming: 'plain' } },
    );
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['boxed_suite']);
    await introspect('boxed');
    const resources = await listWith(client, 'resources/list', 'uri', ['demo://boxed']);
    expect(resources.map(({ name }) => name)).toEqual(['[boxed] boxed of boxed']);
    expect((await listWith(client, 'prompts/list', 'name', ['ask']))[0].description).toBe(
      '[boxed] A prompt of boxed.',
    );
    expect(await read(client, 'demo://boxed')).toBe('boxed has demo://boxed');
    expect(await read(client, 'demo://boxed/7')).toBe('boxed made demo://boxed/7');
    expect(await prompt(client, 'ask')).toBe('boxed says ask with {}');
    const ref = { type: 'ref/resource', uri: 'demo://boxed/{id}' };
    expect(await complete(client, ref, 'id', '7')).toBe('boxed completes demo://boxed/{id} id=7');
    expect((await client.listTools()).map(({ name }) => name)).toEqual(['boxed_suite']);
  });

  test('an unknown URI is refused by name and starts no server', async () => {
    const gateway = await startGateway(
      {
        open: { ...offering('open', { resources: ['demo://open'] }), exposure: 'flat' },
        asleep: offering('asleep', { resources: ['demo://asleep'], templates: ['demo://asleep/{id}'] }),
      },
      { config: { exposure: 'suite', naming: 'plain' } },
    );
    const { client } = gateway;
    await listWith(client, 'tools/list', 'name', ['touch']);
    const running = (): string[] => processesWith(client.marker).map(({ command }) => command);
    const before = running();
    for (const method of ['resources/read', 'resources/subscribe']) {
      for (const uri of ['nobody://knows/this', 'switchboard://nobody/demo://open', 'file:///etc/passwd']) {
        const { error } = await client.request(method, { uri });
        expect(error?.code, `${method} ${uri}`).toBe(-32002);
        expect(error?.message).toContain(uri);
      }
    }
    expect(running()).toEqual(before);
    expect(before.filter((command) => command.includes('--name=asleep'))).toEqual([]);
  });
});

describe('names', () => {
  const long = (what: string) => what.repeat(Math.ceil(90 / what.length)).slice(0, 90);
  const awkward = {
    ['s'.repeat(64)]: offering('long', { tools: ['look', long('name_')], prompts: ['ask'] }, '--quiet'),
    'größe/ß 1': offering('foreign', { tools: ['look', 'größe', 'a.b/c d'] }, '--quiet'),
    constructor: offering('constructor', { tools: ['look', '__proto__', 'toString'] }, '--quiet'),
    plain: offering(
      'plain',
      { tools: [long('name_'), long('name_').replace(/.$/, 'x'), 'größe', 'grösse'] },
      '--quiet',
    ),
  };
  const OWNERS = {
    look: ['long', 'foreign', 'constructor'],
    [long('name_')]: ['long', 'plain'],
    [long('name_').replace(/.$/, 'x')]: ['plain'],
    größe: ['foreign', 'plain'],
    grösse: ['plain'],
    'a.b/c d': ['foreign'],
    ['__proto__']: ['constructor'],
    toString: ['constructor'],
  };
  const all = Object.entries(OWNERS).flatMap(([tool, owners]) =>
    owners.map((owner) => `${owner} ran ${tool}`),
  );

  test.each(['plain', 'prefixed'])('%s: valid, told apart, the same after a restart', async (naming) => {
    const gateway = await startGateway(awkward, { config: { exposure: 'flat', naming } });
    const named = async (client: RawClient): Promise<Map<string, string>> => {
      const tools = await until(
        async () => {
          const listed = await client.listTools();
          return listed.length >= all.length ? listed : undefined;
        },
        { what: 'every tool to be listed' },
      );
      const answers = new Map<string, string>();
      for (const { name } of tools)
        answers.set(name, textOf(await client.call(name)).replace(/ with .*/, ''));
      return answers;
    };
    const first = await named(gateway.client);
    for (const name of first.keys()) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect([...first.values()].sort()).toEqual([...all].sort());
    await gateway.client.close();
    const client = startClient({ cwd: gateway.project.dir, env: ownState(gateway.project) });
    await client.initialize();
    expect(await named(client)).toEqual(first);
  });
});
