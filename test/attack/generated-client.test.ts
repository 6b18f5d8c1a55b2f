/**
 * Clients that send anything: almost valid messages, changed bytes and noise, of every protocol version and over every
 * transport, in pieces that are cut anywhere.
 */
import { expect, test } from 'vitest';
import { BATCHING_VERSION } from '../../src/protocol/index.ts';
import { MODERN } from '../helpers/eras.ts';
import { tryGenerated } from '../helpers/generated.ts';
import { CLIENT_KINDS, connectHostile, type ClientKind, type Reaction } from '../helpers/client-kinds.ts';
import { clientMessage, hostileInput } from '../helpers/hostile-input.ts';
import { textOf, type RpcId } from '../helpers/raw-client.ts';
import { openFiles, rss } from '../helpers/resources.ts';
import { nodeServer } from '../helpers/temp-project.ts';

/** How a message has to be answered, as far as JSON-RPC says it. */
interface Expectation {
  /** Exactly one response is due to this id; undefined where there is no such request. */
  readonly id: RpcId | undefined;
  /** The least and most number of responses. */
  readonly counts: readonly [least: number, most: number];
}

const ONE = [1, 1] as const;
const MAYBE = [0, 1] as const;

/** Judges bytes by `JSON.parse`, which the gateway does not use for them. */
function expectationFor(bytes: Buffer, { version, transport }: ClientKind): Expectation {
  const message = parsed(bytes);
  // A blank line is none; a body has to be a message.
  if (message === 'blank') return { id: undefined, counts: transport === 'stdio' ? [0, 0] : ONE };
  if (Array.isArray(message) && version === BATCHING_VERSION)
    return { id: undefined, counts: [0, message.length || 1] };
  if (message === 'broken' || typeof message !== 'object' || message === null || Array.isArray(message))
    return { id: undefined, counts: ONE };
  const { jsonrpc, id, method } = message as Record<string, unknown>;
  const isRequest = typeof method === 'string' && (typeof id === 'string' || typeof id === 'number');
  // A repeated member is refused, and then the id may be the other one.
  if (isRequest && jsonrpc === '2.0' && !repeats(bytes)) return { id, counts: ONE };
  const mayBeSilent = !('id' in message) || !('method' in message);
  return { id: undefined, counts: mayBeSilent ? MAYBE : ONE };
}

function parsed(bytes: Buffer): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return /^[ \t]*$/.test(text) ? 'blank' : JSON.parse(text);
  } catch {
    return 'broken';
  }
}

/** Whether a member that the gateway reads may be there twice, by any spelling. */
function repeats(bytes: Buffer): boolean {
  const text = bytes
    .toString()
    .replace(/\\u00([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  const keys = [...text.matchAll(/"(\w+)"\s*:/g)].map(([, key]) => key!);
  return new Set(keys).size < keys.length;
}

function check({ id, counts }: Expectation, { status, responses }: Reaction): void {
  expect(responses.length).toBeGreaterThanOrEqual(counts[0]);
  expect(responses.length).toBeLessThanOrEqual(counts[1]);
  if (id !== undefined) expect(Object.is(responses[0]!.id, id)).toBe(true);
  for (const response of responses) {
    expect(response.jsonrpc).toBe('2.0');
    expect('result' in response).not.toBe('error' in response);
  }
  expect(status).toBeLessThan(500);
}

test.each(CLIENT_KINDS)(
  '$version over $transport: one answer for each request, however it is cut, and others are served',
  async (kind) => {
    const modern = kind.version === MODERN;
    const client = await connectHostile(
      kind,
      { echo: nodeServer('echo'), flat: { ...nodeServer('echo'), exposure: 'flat' } },
      { config: { timeouts: { rpcMs: 5000 } } },
    );
    const innocent = async (text: string): Promise<void> => {
      const answer = await client.call('echo_suite', { action: 'call', subtool: 'echo', args: { text } });
      expect(textOf(answer)).toBe(text);
    };
    await innocent('first');
    // Its tools are listed from then on.
    expect(textOf(await client.call('flat__echo', { text: 'first' }))).toBe('first');
    const before = { files: openFiles(client.pid), memory: rss(client.pid) };
    let count = 0;
    const input = hostileInput(clientMessage(modern, ['echo_suite', 'flat__echo', 'no_such']));
    await tryGenerated(input, async ({ bytes, pieces }) => {
      const expectation = expectationFor(bytes, kind);
      const whole = await client.send([bytes], expectation.counts[0]);
      check(expectation, whole);
      const cut = await client.send(pieces, expectation.counts[0]);
      expect(cut).toEqual(whole);
      if (++count % 50 === 0) await innocent(`call ${count}`);
    });
    await innocent('last');
    expect(client.problems()).toEqual([]);
    expect(openFiles(client.pid)).toBeLessThanOrEqual(before.files + 8);
    expect(rss(client.pid) - before.memory).toBeLessThan(96);
  },
);
