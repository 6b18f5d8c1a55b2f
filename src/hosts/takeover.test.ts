import fc from 'fast-check';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isObject } from '../shared/is-object.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import { findHost, HOSTS } from './catalog.ts';
import { entriesOf, upsertEntry } from './edit.ts';
import type { Host, HostEnvironment } from './host.ts';
import { readServers } from './read-servers.ts';
import { undoTakeover, takeOver, type TakeoverResult, type TakeoverPart } from './takeover.ts';
import { storedRecords } from './takeover-record.ts';

interface TestHome {
  readonly where: HostEnvironment;
  readonly state: string;
}

function createTestHome(): TestHome {
  const made = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'switchboard-hosts-'));
  onTestFinished(() => fs.rmSync(made, { recursive: true, force: true }));
  return {
    where: { platform: 'linux', home: made, env: {}, cwd: join(made, 'p') },
    state: join(made, 'state'),
  };
}
const isOurs = (entry: unknown): boolean => isObject(entry) && entry.command === '/sb';
const ours = { command: '/sb', args: ['--config', '/c'] };
const userFile = (host: Host, { where }: TestHome): string => host.files.user(where)[0]!;
const put = (host: Host, at: TestHome, text: string): void => {
  fs.mkdirSync(dirname(userFile(host, at)), { recursive: true });
  fs.writeFileSync(userFile(host, at), text);
};
const read = (host: Host, at: TestHome): string => fs.readFileSync(userFile(host, at), 'utf8');

/** Takes over all servers of the host, with an entry in the place of the first. */
function takeAll(host: Host, at: TestHome): Promise<TakeoverResult> {
  const parts = new Map<string, TakeoverPart & { servers: Map<string, unknown> }>();
  for (const { location, name, value } of readServers(host, at.where)) {
    const key = JSON.stringify(location.keyPath);
    const part = parts.get(key) ?? {
      location,
      servers: new Map(),
      entry: parts.size === 0 ? ours : undefined,
    };
    part.servers.set(name, value);
    parts.set(key, part);
  }
  const [first, ...rest] = [...parts.values()];
  return takeOver({ parts: [first!, ...rest], name: 'switchboard', isOurs, stateDirectory: at.state });
}
const ejectAll = async (at: TestHome) => {
  const results = [];
  for (const record of storedRecords(at.state))
    results.push(await undoTakeover(record, { isOurs, stateDirectory: at.state }));
  return results;
};

const TEXTS: Readonly<Record<'json' | 'toml', readonly string[]>> = {
  json: [
    '{\n  "KEY": {\n    "a": { "command": "a", "env": { "T": "x" } },\n    "b": { "url": "https://b" }\n  },\n  "z": [1, 2]\n}\n',
    '{"z":1,"KEY":{"a":{"command":"a"}}}',
    '\ufeff{\r\n\t"KEY": {\r\n\t\t"switchboard": { "command": "theirs" }\r\n\t}\r\n}\r\n',
  ],
  toml: [
    '# top\nmodel = "x"\n\n# a\n[KEY.a]\ncommand = "a" # a\n\n[KEY.a.env]\nT = "x"\n\n[KEY."b"]\nurl = "https://b"\n\n[z]\ny = 1',
    'KEY = { a = { command = "a" } }\n',
    '[KEY]\nswitchboard = { command = "theirs" }\nb.command = "b"\n',
  ],
};

describe.each(HOSTS)('$title', (host) => {
  const texts = TEXTS[host.format === 'toml' ? 'toml' : 'json'].map((text) =>
    text.replaceAll('KEY', host.keyPath[0]!),
  );

  test.each(texts)('what was taken over comes back to the byte: %j', async (text) => {
    const at = createTestHome();
    put(host, at, text);
    const names = [...entriesOf(text, host).keys()];
    const taken = await takeAll(host, at);
    expect(taken.removed).toEqual(names);
    expect([...entriesOf(read(host, at), host)]).toEqual([['switchboard', ours]]);
    // Windows has no such modes.
    if (process.platform !== 'win32') {
      expect(fs.statSync(taken.record!).mode & 0o777).toBe(0o600);
      expect(fs.statSync(dirname(taken.record!)).mode & 0o777).toBe(0o700);
    }
    expect(await ejectAll(at)).toMatchObject([{ how: 'restored', returned: names, left: [] }]);
    expect(read(host, at)).toBe(text);
    expect(storedRecords(at.state)).toEqual([]);
  });

  test.each(texts)('and in meaning, where the file was changed meanwhile: %j', async (text) => {
    const at = createTestHome();
    put(host, at, text);
    await takeAll(host, at);
    fs.writeFileSync(
      userFile(host, at),
      upsertEntry(read(host, at), host, 'new', { entry: { command: 'n' } }).text,
    );
    expect(await ejectAll(at)).toMatchObject([{ how: 'merged', left: [] }]);
    const now = new Map(entriesOf(read(host, at), host));
    expect(now.get('new')).toEqual({ command: 'n' });
    now.delete('new');
    expect(now).toEqual(entriesOf(text, host));
    expect(storedRecords(at.state)).toEqual([]);
  });
});

describe('a takeover', () => {
  const host = findHost('cursor');
  const text = '{\n  "mcpServers": {\n    "a": { "command": "a" },\n    "b": { "command": "b" }\n  }\n}\n';

  test('of several places in one file is one record', async () => {
    const claude = findHost('claude-code');
    const at = createTestHome();
    const before = JSON.stringify(
      {
        mcpServers: { a: { command: 'a' } },
        projects: { '/x': { mcpServers: { a: { command: 'l' } }, history: [1] } },
      },
      undefined,
      2,
    );
    put(claude, at, before);
    expect((await takeAll(claude, at)).removed).toEqual(['a', 'a']);
    expect(JSON.parse(read(claude, at))).toEqual({
      mcpServers: { switchboard: ours },
      projects: { '/x': { mcpServers: {}, history: [1] } },
    });
    fs.writeFileSync(userFile(claude, at), `${read(claude, at)}\n`);
    expect(await ejectAll(at)).toMatchObject([{ how: 'merged', returned: ['a', 'a'] }]);
    expect(JSON.parse(read(claude, at))).toEqual(JSON.parse(before));
  });

  test('twice is undone in the other order', async () => {
    const at = createTestHome();
    put(host, at, text);
    await takeAll(host, at);
    fs.writeFileSync(
      userFile(host, at),
      upsertEntry(read(host, at), host, 'c', { entry: { command: 'c' } }).text,
    );
    const parts = readServers(host, at.where).filter(({ name }) => name === 'c');
    const part: TakeoverPart = {
      location: parts[0]!.location,
      servers: new Map([['c', { command: 'c' }]]),
      entry: ours,
    };
    await takeOver({ parts: [part], name: 'switchboard', isOurs, stateDirectory: at.state });
    expect([...entriesOf(read(host, at), host).keys()]).toEqual(['switchboard']);
    expect((await ejectAll(at)).map(({ how }) => how)).toEqual(['restored', 'merged']);
    expect(Object.fromEntries(entriesOf(read(host, at), host))).toEqual({
      a: { command: 'a' },
      b: { command: 'b' },
      c: { command: 'c' },
    });
  });

  test('leaves what is different from what was read', async () => {
    const at = createTestHome();
    put(host, at, text);
    const [first] = readServers(host, at.where);
    const servers = new Map<string, unknown>([
      ['a', { command: 'before' }],
      ['b', { command: 'b' }],
      ['gone', { command: 'g' }],
    ]);
    const taken = await takeOver({
      parts: [{ location: first!.location, servers, entry: ours }],
      name: 'switchboard',
      isOurs,
      stateDirectory: at.state,
    });
    expect(taken.removed).toEqual(['b']);
    expect([...entriesOf(read(host, at), host).keys()]).toEqual(['a', 'switchboard']);
  });

  test('does not push a stranger out of our name', async () => {
    const at = createTestHome();
    const theirs = upsertEntry(text, host, 'switchboard', { entry: { command: 'theirs' } }).text;
    put(host, at, theirs);
    const [first] = readServers(host, at.where);
    const part: TakeoverPart = {
      location: first!.location,
      servers: new Map([['a', { command: 'a' }]]),
      entry: ours,
    };
    const taking = takeOver({ parts: [part], name: 'switchboard', isOurs, stateDirectory: at.state });
    await expect(taking).rejects.toMatchObject({ code: 'HOST_ENTRY_TAKEN' });
    expect(read(host, at)).toBe(theirs);
    expect(storedRecords(at.state)).toEqual([]);
  });

  test('that is only tried writes nothing', async () => {
    const at = createTestHome();
    put(host, at, text);
    const [first] = readServers(host, at.where);
    const part: TakeoverPart = {
      location: first!.location,
      servers: new Map([['a', { command: 'a' }]]),
      entry: ours,
    };
    const tried = await takeOver({
      parts: [part],
      name: 'switchboard',
      isOurs,
      stateDirectory: at.state,
      dryRun: true,
    });
    expect([...entriesOf(tried.after!, host).keys()]).toEqual(['b', 'switchboard']);
    expect(read(host, at)).toBe(text);
    expect(fs.existsSync(at.state)).toBe(false);
  });

  test('that was interrupted has lost nothing, whatever came later', async () => {
    const at = createTestHome();
    put(host, at, text);
    await takeAll(host, at);
    // Simulates a power failure between writing the record and the file.
    fs.writeFileSync(userFile(host, at), text);
    expect(await ejectAll(at)).toMatchObject([{ how: 'nothing', returned: [], left: [] }]);
    expect(read(host, at)).toBe(text);
    expect(storedRecords(at.state)).toEqual([]);

    await takeAll(host, at);
    const edited = upsertEntry(text, host, 'c', { entry: { command: 'c' } }).text;
    fs.writeFileSync(userFile(host, at), edited);
    await ejectAll(at);
    expect(read(host, at)).toBe(edited);
  });

  test('gives a server back only where its name is free, and keeps the record until then', async () => {
    const at = createTestHome();
    put(host, at, text);
    await takeAll(host, at);
    const other = upsertEntry(read(host, at), host, 'a', { entry: { command: 'another' } }).text;
    fs.writeFileSync(userFile(host, at), other);
    expect(await ejectAll(at)).toMatchObject([{ how: 'merged', returned: ['b'], left: ['a'] }]);
    expect(Object.fromEntries(entriesOf(read(host, at), host))).toEqual({
      a: { command: 'another' },
      b: { command: 'b' },
    });
    expect(storedRecords(at.state)).toHaveLength(1);
    fs.writeFileSync(userFile(host, at), '{}');
    expect(await ejectAll(at)).toMatchObject([{ returned: ['a', 'b'], left: [] }]);
    expect(storedRecords(at.state)).toEqual([]);
  });

  test('of a file that is gone gives it back', async () => {
    const at = createTestHome();
    put(host, at, text);
    await takeAll(host, at);
    fs.rmSync(userFile(host, at));
    expect(await ejectAll(at)).toMatchObject([{ how: 'merged', returned: ['a', 'b'] }]);
    expect(entriesOf(read(host, at), host)).toEqual(entriesOf(text, host));
  });

  test('leaves an entry of ours alone that was there before it', async () => {
    const at = createTestHome();
    const installed = upsertEntry(text, host, 'switchboard', { entry: ours }).text;
    put(host, at, installed);
    const servers = new Map<string, unknown>([['a', { command: 'a' }]]);
    const [first] = readServers(host, at.where);
    await takeOver({
      parts: [{ location: first!.location, servers, entry: ours }],
      name: 'switchboard',
      isOurs,
      stateDirectory: at.state,
    });
    fs.appendFileSync(userFile(host, at), '\n');
    await ejectAll(at);
    expect(entriesOf(read(host, at), host).get('switchboard')).toEqual(ours);
    expect(entriesOf(read(host, at), host).get('a')).toEqual({ command: 'a' });
  });

  test('with a damaged record is skipped', () => {
    const at = createTestHome();
    fs.mkdirSync(join(at.state, 'takeover'), { recursive: true });
    for (const [name, content] of Object.entries({
      'a.json': '{',
      'b.json': '{"version":2}',
      'c.json': '[]',
      'd.txt': '',
    }))
      fs.writeFileSync(join(at.state, 'takeover', name), content);
    expect(storedRecords(at.state)).toEqual([]);
  });
});

test('for any servers, a takeover and its end give the same text', async () => {
  const name = fc.constantFrom('a', 'b', 'c d', 'switchboard', '__proto__');
  const servers = fc.uniqueArray(fc.tuple(name, fc.string({ minLength: 1 })), {
    minLength: 1,
    maxLength: 4,
    selector: ([each]) => each,
  });
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...HOSTS),
      servers,
      fc.constantFrom('', '\n'),
      async (host, list, end) => {
        const at = createTestHome();
        const start = host.format === 'toml' ? `k = 1${end}` : `{"k": 1}${end}`;
        const text = list.reduce(
          (rest, [each, command]) =>
            upsertEntry(rest, host, each, { entry: { command: `x${command}` } }).text,
          start,
        );
        put(host, at, text);
        await takeAll(host, at);
        expect([...entriesOf(read(host, at), host).keys()]).toEqual(['switchboard']);
        await ejectAll(at);
        expect(read(host, at)).toBe(text);
        fs.rmSync(at.where.home, { recursive: true, force: true });
      },
    ),
    { numRuns: 40 },
  );
});
