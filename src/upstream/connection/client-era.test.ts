/** A server that supports the client's era is used in that era; with real servers of every kind. */
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Call } from '../../gateway/index.ts';
import { eraOfVersion, type Era } from '../../protocol/index.ts';
import type { Edit } from '../../wire/index.ts';
import { factsCache } from '../../../test/helpers/upstream-context.ts';
import {
  overHttp,
  overStdio,
  scratchFile,
  startModernServer,
  TestClient,
  type UpstreamHarness,
  type UpstreamHarnessOptions,
} from '../modern/modern.cases.ts';

const KINDS = {
  old: { initialize: 'accept', discover: 'unknown' },
  new: {},
  both: { initialize: 'accept' },
} as const;
type Kind = keyof typeof KINDS;

const wires: [string, (kind: Kind, options: UpstreamHarnessOptions) => Promise<UpstreamHarness>][] = [
  [
    'stdio',
    (kind, options) =>
      Promise.resolve(
        overStdio(
          Object.entries(KINDS[kind]).map(([name, value]) => `--${name}=${value}`),
          options,
        ),
      ),
  ],
  ['HTTP', async (kind, options) => overHttp((await startModernServer(KINDS[kind])).url, options)],
];

const spoken = ({ source }: UpstreamHarness): Era => eraOfVersion(source.about()!.protocolVersion);

describe.each(wires)('over %s', (_, connect) => {
  test.each([
    ['legacy', 'old', 'legacy', { legacy: true }],
    ['legacy', 'new', 'modern', { legacy: false, modern: true }],
    ['legacy', 'both', 'legacy', { legacy: true }],
    ['modern', 'old', 'legacy', { legacy: true, modern: false }],
    ['modern', 'new', 'modern', { modern: true }],
    ['modern', 'both', 'modern', { modern: true }],
  ] as const)(
    'for a %s client, a server that is %s is spoken to in %s',
    async (era, kind, expected, shown) => {
      const cache = factsCache();
      const harness = await connect(kind, { era, cache });
      await harness.source.start();
      expect(spoken(harness)).toBe(expected);
      expect(cache.support).toEqual(shown);
      expect((await harness.source.list('tools')).byKey.has('params')).toBe(true);
    },
  );
});

const handshakesIn = (journal: string): string[] =>
  readFileSync(journal, 'utf8')
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { method: string }).method)
    .filter((method) => method === 'initialize' || method === 'server/discover');

/** A program that may be a different one each time it starts. */
function changing(era: Era, first: string) {
  const [eras, journal] = [scratchFile('eras'), scratchFile('journal')];
  const cache = factsCache();
  writeFileSync(eras, first);
  const harness = overStdio([`--eras=${eras}`, `--journal=${journal}`], { era, cache });
  return {
    ...harness,
    cache,
    handshakes: () => handshakesIn(journal),
    startAs: async (next: string) => {
      writeFileSync(eras, next);
      await harness.source.fail(new Error('for the test'));
      await harness.source.start();
    },
  };
}

describe('what a program supports is remembered', () => {
  test('so that a modern client does not ask twice', async () => {
    const { source, handshakes, startAs } = changing('modern', 'legacy');
    await source.start();
    await startAs('legacy');
    expect(handshakes()).toEqual(['server/discover', 'initialize', 'initialize']);
  });

  test('until it says that it is of another version', async () => {
    const harness = changing('modern', 'legacy 1');
    await harness.source.start();
    await harness.startAs('both 2');
    // Nobody has sent it any other request.
    expect(spoken(harness)).toBe('legacy');
    expect(harness.cache.support).toEqual({ legacy: true, modern: undefined });
    await harness.startAs('both 2');
    expect(spoken(harness)).toBe('modern');
  });

  test('until it does not work any more', async () => {
    const harness = changing('modern', 'both');
    await harness.source.start();
    await harness.startAs('legacy');
    expect(spoken(harness)).toBe('legacy');
    expect(harness.cache.support).toEqual({ legacy: true, modern: false });
    expect(harness.log.join('')).toContain('speaks another protocol version now');
    await harness.startAs('modern');
    expect(spoken(harness)).toBe('modern');
    expect(harness.cache.support).toEqual({ legacy: false, modern: true });
  });
});

describe('a modern client', () => {
  test('gets a program that ends when it is asked the modern way first', async () => {
    const cache = factsCache();
    const args = ['--initialize=accept', '--discover=exit'];
    const { source, log } = overStdio(args, { era: 'modern', cache });
    await source.start();
    expect(source.about()?.serverInfo.name).toBe('older');
    expect(cache.support).toMatchObject({ legacy: true, modern: false });
    expect(log.filter((line) => line.includes('spawned'))).toHaveLength(2);
    await source.fail(new Error('for the test'));
    await source.start();
    expect(log.filter((line) => line.includes('spawned'))).toHaveLength(3);
  });

  test('gets a program that ignores what it does not know', async () => {
    const cache = factsCache();
    const args = ['--initialize=accept', '--discover=silent'];
    const { source } = overStdio(args, { era: 'modern', cache });
    await source.start();
    expect(cache.support).toEqual({ legacy: true, modern: false });
  });

  test('is told why a program ends that ends in any case', async () => {
    const args = ['--initialize=accept', '--discover=exit', '--eras=/no/such/file'];
    const { source } = overStdio(args, { era: 'modern' });
    await expect(source.start()).rejects.toThrow(/ENOENT/);
  });

  test('gets its own era from a program that listens late', async () => {
    const cache = factsCache();
    const args = ['--initialize=accept', '--idle-start=700'];
    const harness = overStdio(args, { era: 'modern', cache });
    await harness.source.start();
    expect(spoken(harness)).toBe('modern');
    expect(cache.support).toEqual({ legacy: true, modern: true });
  });
});

test('where another connection speaks the other era already, a server that has no more is not used twice', async () => {
  const cache = factsCache();
  const args = ['--initialize=accept', '--discover=unknown'];
  const passed: Call[] = [];
  const other = (_edits: Edit[], call: Call): void => void passed.push(call);
  const { source, starts } = overStdio(args, { era: 'modern', cache, other });
  const { call } = new TestClient({}, true).tool(source, 'params');
  await expect(source.start()).rejects.toThrow('does not support protocol version 2026-07-28');
  expect(cache.support).toEqual({ legacy: true, modern: false });
  expect([source.state.kind, source.problem, starts()]).toEqual(['idle', undefined, 0]);
  expect(passed).toEqual([call]);
});
