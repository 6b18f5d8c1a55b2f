/**
 * Servers that say anything while they run a call: almost valid messages, changed bytes and noise, of every protocol
 * version and over every transport, in pieces that are cut anywhere. Behind it comes the right answer.
 */
import fc from 'fast-check';
import { isDeepStrictEqual } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { LEGACY_VERSIONS } from '../../src/protocol/index.ts';
import { connectHostile, type ClientKind } from '../helpers/client-kinds.ts';
import { MODERN } from '../helpers/eras.ts';
import { tryGenerated } from '../helpers/generated.ts';
import { hostileInput, serverMessage } from '../helpers/hostile-input.ts';
import { textOf, type RpcMessage } from '../helpers/raw-client.ts';
import { openFiles, rss } from '../helpers/resources.ts';
import { nodeServer } from '../helpers/temp-project.ts';
import { startScriptedHttp } from '../servers/scripted-http.mjs';

const CLIENTS: readonly ClientKind[] = [
  { version: '2025-11-25', transport: 'stdio' },
  { version: MODERN, transport: 'stdio' },
  { version: '2025-06-18', transport: 'http' },
  { version: MODERN, transport: 'http' },
];

const REMOTE = {
  old_json: { modern: false, events: false },
  old_events: { modern: false, events: true },
  new_json: { modern: true, events: false },
  new_events: { modern: true, events: true },
};

async function startServers(): Promise<Record<string, any>> {
  const local = LEGACY_VERSIONS.map((version) => [
    `v${version.replaceAll('-', '_')}`,
    nodeServer('versions', `--answer=${version}`),
  ]);
  const remote = await Promise.all(
    Object.entries(REMOTE).map(async ([name, options]) => {
      const server = await startScriptedHttp(options);
      onTestFinished(() => server.close());
      return [name, { url: server.url }];
    }),
  );
  return Object.fromEntries([...local, ['modern', nodeServer('versions', '--modern-only')], ...remote]);
}

/** What the lines of a script would be as the content of a result, for whoever believes them. */
function believable(bytes: Buffer): unknown[] {
  const lines = bytes.toString().replaceAll('$id', '1').replaceAll('$token', '1').split('\n');
  return lines.flatMap((line) => {
    try {
      const { result } = JSON.parse(line.replace(/^\ufeff/, ''));
      return result === undefined ? [] : [result];
    } catch {
      return [];
    }
  });
}

function check(script: Buffer, { result, error }: RpcMessage): void {
  if (error !== undefined || result.isError === true) return;
  if (result.content?.[0]?.text === 'right') return;
  const source = believable(script).some(
    // A result without content is given some.
    (each: any) => !Array.isArray(each?.content) || isDeepStrictEqual(each.content, result.content),
  );
  expect(source, JSON.stringify(result)).toBe(true);
}

test.each(CLIENTS)(
  'whatever servers say, a client of $version over $transport gets one answer to each call, and the next call works',
  async (kind) => {
    const servers = await startServers();
    const client = await connectHostile(
      kind,
      { echo: nodeServer('echo'), ...servers },
      { config: { timeouts: { rpcMs: 5000 } } },
    );
    const call = (server: string, subtool: string, args: object): Promise<RpcMessage> =>
      client.call(`${server}_suite`, { action: 'call', subtool, args });
    const innocent = async (server: string, text: string): Promise<void> => {
      expect(textOf(await call(server, 'echo', { text }))).toBe(text);
    };
    const names = Object.keys(servers);
    for (const name of ['echo', ...names]) await innocent(name, 'first');
    const before = { files: openFiles(client.pid), memory: rss(client.pid) };

    const script = fc
      .array(hostileInput(serverMessage()), { minLength: 1, maxLength: 3 })
      .map((inputs) => Buffer.concat(inputs.flatMap(({ bytes }) => [bytes, Buffer.from('\n')])));
    const input = fc.record({
      name: fc.constantFrom(...names),
      bytes: script,
      cuts: fc.array(fc.nat(1_000_000), { maxLength: 5 }),
    });
    await tryGenerated(input, async ({ name, bytes, cuts }) => {
      const answer = await call(name, 'script', { bytes: bytes.toString('base64'), cuts });
      check(bytes, answer);
      await innocent(name, 'after');
      await innocent('echo', 'beside');
    });
    expect(client.problems()).toEqual([]);
    expect(openFiles(client.pid)).toBeLessThanOrEqual(before.files + 8);
    expect(rss(client.pid) - before.memory).toBeLessThan(96);
    // None of them was ended for it.
    const processes = ['echo', ...names.filter((name) => !(name in REMOTE))];
    expect(client.log().match(/spawned server=/g)).toHaveLength(processes.length);
  },
);
