import { expect, test, vi } from 'vitest';
import { CLIENT_SHAPE, type JsonObject } from '../protocol/index.ts';
import { Message } from '../wire/index.ts';
import type { CatalogEntry } from './catalog.ts';
import { Gateway } from './gateway.ts';
import { EMPTY_LISTING, type Listing } from './component.ts';
import { Session, type ClientLink } from './session.ts';
import type { SourceListener } from './source.ts';

/** An entry whose exposure presents these names; each tool answers with the name it was called by. */
function entry(source: string, ...names: string[]): CatalogEntry {
  return {
    // The gateway uses no other member here.
    source: {
      name: source,
      state: { kind: 'idle' },
      listen: () => undefined,
    } as unknown as CatalogEntry['source'],
    rules: { allows: () => true, overrides: new Map() },
    offers: new Set(['tools']),
    naming: 'plain',
    exposure: {
      needsTools: false,
      present: () =>
        names.map((wanted) => ({
          names: [wanted],
          definition: (name) => JSON.stringify({ name, description: `${wanted} of ${source}` }),
          run: (call, name) => call.succeed({ ran: name, by: source }),
        })),
    },
  };
}

/** A client that ignores everything except what `own` handles. */
function clientLink(own: Partial<ClientLink>): ClientLink {
  return {
    congested: false,
    whenDrained: () => undefined,
    forwardAnswer: () => undefined,
    forwardNotification: () => undefined,
    answer: () => undefined,
    answerText: () => undefined,
    notify: () => undefined,
    ask: () => 0,
    withdraw: () => undefined,
    capabilities: {},
    fail: () => undefined,
    ...own,
  };
}

/** Sends one request and returns its answer. */
function ask(gateway: Gateway, method: string, params?: object): JsonObject {
  const answers: JsonObject[] = [];
  const client = clientLink({
    answer: (_call, result) => void answers.push(result),
    answerText: (_call, text) => void answers.push(JSON.parse(text) as JsonObject),
    fail: (_call, error) => void answers.push({ failed: error.code, said: error.explained }),
  });
  const message = Message.from({ jsonrpc: '2.0', id: 1, method, params }, CLIENT_SHAPE);
  gateway.handle(new Session(client).open(message, method));
  expect(answers).toHaveLength(1);
  return answers[0]!;
}

const names = (gateway: Gateway) =>
  (ask(gateway, 'tools/list') as { tools: { name: string }[] }).tools.map((tool) => tool.name);

test('exactly the listed names can be called', () => {
  const gateway = new Gateway({ entries: [entry('a', 'one', 'two words'), entry('b', 'three')] });
  const listed = names(gateway);
  expect(listed).toEqual(['one', expect.stringMatching(/^two_words_\w+$/), 'three']);
  for (const name of listed) expect(ask(gateway, 'tools/call', { name })).toMatchObject({ ran: name });
  expect(ask(gateway, 'tools/call', { name: 'two words' })).toMatchObject({ failed: 'TOOL_UNKNOWN' });
  expect(ask(gateway, 'tools/call', { name: 'thre' }).said).toContain('Did you mean "three"?');
});

test('of two tools that want one name the later is numbered, and each runs its own', () => {
  const gateway = new Gateway({ entries: [entry('a', 'same'), entry('b', 'same'), entry('c', 'same')] });
  expect(names(gateway)).toEqual(['same', 'same_2', 'same_3']);
  expect(ask(gateway, 'tools/call', { name: 'same_2' })).toEqual({ ran: 'same_2', by: 'b' });
});

test('a swap changes list and calls at once; one that fails changes nothing', () => {
  const gateway = new Gateway({ entries: [entry('a', 'old')] });
  const broken = {
    ...entry('x', 'y'),
    exposure: {
      needsTools: false,
      present: () => {
        throw new Error('broken');
      },
    },
  };
  expect(() => gateway.swap([broken])).toThrow('broken');
  expect(names(gateway)).toEqual(['old']);
  gateway.swap([entry('b', 'new')]);
  expect(gateway.catalog.generation).toBe(2);
  expect(names(gateway)).toEqual(['new']);
  expect(ask(gateway, 'tools/call', { name: 'old' })).toMatchObject({ failed: 'TOOL_UNKNOWN' });
});

test('a name that is very long is refused in a few words', () => {
  const gateway = new Gateway({ entries: [entry('a', 'one')] });
  const { said } = ask(gateway, 'tools/call', { name: 'o'.repeat(1_000_000) });
  expect(said).toMatch(/^Unknown tool: "ooo/);
  expect((said as string).length).toBeLessThan(500);
});

test('a request in the clothes of a notification reaches no source', () => {
  const told: string[] = [];
  const only = entry('a', 'one');
  const gateway = new Gateway({
    entries: [
      {
        ...only,
        source: { ...only.source, notify: (message: Message) => void told.push(message.toString()) },
        exposure: { ...only.exposure, needsTools: true },
      },
    ],
  });
  const notify = (method: string) =>
    gateway.notified(method, Message.from({ jsonrpc: '2.0', method, params: {} }, CLIENT_SHAPE));
  for (const method of ['tools/call', 'resources/read', 'initialize', 'vendor/anything', '']) notify(method);
  expect(told).toEqual([]);
  notify('notifications/vendor/anything');
  expect(told).toHaveLength(1);
});

test('a list may be kept as long as the server that says least; one that does not say allows nothing', async () => {
  const lists = (ttlMs: number | undefined): CatalogEntry => {
    const { source, ...rest } = entry(`s${ttlMs}`, 'tool');
    const listing = { components: [], byKey: new Map(), incomplete: undefined, ttlMs };
    const listed = {
      state: { kind: 'running' },
      list: () => Promise.resolve(listing),
      remembered: () => undefined,
      about: () => undefined,
    };
    return {
      ...rest,
      source: { ...source, ...listed } as unknown as CatalogEntry['source'],
      exposure: { ...rest.exposure, needsTools: true },
    };
  };
  const freshFor = async (...ttls: (number | undefined)[]): Promise<number> => {
    const gateway = new Gateway({ entries: ttls.map(lists) });
    for (const each of gateway.catalog.entries) await gateway.listNow(each.source);
    return gateway.freshFor('tools');
  };
  expect(await freshFor(5000, 300)).toBe(300);
  expect(await freshFor(5000, undefined)).toBe(0);
  expect(await freshFor()).toBe(0);
});

test('a server swapped in quietly is announced once, not before its tools are listed', async () => {
  vi.useFakeTimers();
  try {
    const notified: string[] = [];
    const gateway = new Gateway({ entries: [entry('old', 'one')] });
    gateway.join(new Session(clientLink({ notify: (method) => void notified.push(method) })));
    let listener: SourceListener | undefined;
    let giveTools: (listing: Listing) => void = () => undefined;
    const added: CatalogEntry = {
      ...entry('new', 'two'),
      offers: new Set(['tools', 'prompts']),
      source: {
        name: 'new',
        state: { kind: 'running', pid: 1, since: 0 },
        about: () => undefined,
        remembered: () => undefined,
        ask: () => Promise.reject(new Error('unknown')),
        listen: (given: SourceListener) => void (listener = given),
        list: (kind: string) =>
          kind === 'tools'
            ? new Promise<Listing>((resolve) => (giveTools = resolve))
            : Promise.resolve({ ...EMPTY_LISTING }),
      } as unknown as CatalogEntry['source'],
    };
    gateway.swap([added], { quiet: true });
    const listed = gateway.listNow(added.source);
    listener!.started();
    await vi.advanceTimersByTimeAsync(1000);
    expect(notified).toEqual([]);
    giveTools({ ...EMPTY_LISTING });
    await listed;
    gateway.announceTools();
    await vi.advanceTimersByTimeAsync(1000);
    expect(notified).toEqual(['notifications/tools/list_changed']);
  } finally {
    vi.useRealTimers();
  }
});
