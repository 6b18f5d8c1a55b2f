/**
 * Servers that answer calls in every wrong way, in front of clients of every protocol version. How one version over stdio
 * is answered in detail is in test/e2e/child-abuse.test.ts.
 */
import { describe, expect, test } from 'vitest';
import { CLIENT_KINDS, connectHostile, type HostileClient } from '../helpers/client-kinds.ts';
import type { RpcMessage } from '../helpers/raw-client.ts';
import { openFiles, rss } from '../helpers/resources.ts';
import { nodeServer } from '../helpers/temp-project.ts';

/** The right answer, an error, either of both, or any other result. */
type Outcome = 'right' | 'error' | 'right or error' | 'result';

interface Row {
  readonly server: string;
  readonly tool: string;
  readonly outcome: Outcome;
  readonly args?: object;
}

const rows = (server: string, outcome: Outcome, ...tools: readonly string[]): Row[] =>
  tools.map((tool) => ({ server, tool, outcome }));

const ROWS: readonly Row[] = [
  ...rows('wrong-id', 'right', 'foreign_id', 'null_id', 'no_id', 'typed_id', 'object_id', 'twice'),
  ...rows('wrong-id', 'right or error', 'wrong_version'),
  ...rows('wrong-id', 'error', 'both', 'neither', 'result_not_object', 'content_not_array'),
  ...rows('wrong-id', 'error', 'error_string', 'error_null', 'error_long', 'error_no_code'),
  ...rows('wrong-id', 'result', 'content_missing'),
  ...rows(
    'odd',
    'result',
    'unknown_fields',
    'unknown_content',
    'big_integers',
    'huge_exponent',
    'minus_zero',
  ),
  ...rows('odd', 'result', 'lone_surrogate', 'escaped_keys', 'deep', 'duplicate_keys', 'proto_keys'),
  ...rows('odd', 'result', 'bad_base64', 'line_separators', 'spaced', 'id_last', 'null_result_fields'),
  ...rows('odd', 'result', 'not_tool_shaped'),
  ...rows('odd', 'error', 'invalid_utf8', 'control_char', 'nul', 'error_data'),
  { server: 'progress', tool: 'stray', outcome: 'result', args: { n: 100, token: 'nobody' } },
  { server: 'progress', tool: 'after', outcome: 'result', args: { n: 100 } },
  { server: 'progress', tool: 'flood', outcome: 'result', args: { n: 20_000 } },
  ...rows('progress', 'result', 'backwards'),
  { server: 'huge', tool: 'huge', outcome: 'error', args: { bytes: 64 * 1024 * 1024 } },
  ...rows('huge', 'error', 'deep'),
  ...rows('asks', 'result', 'ask_sampling', 'ask_roots', 'ask_unknown'),
];

function outcomeOf({ result, error }: RpcMessage): Outcome {
  if (error !== undefined || result.isError === true) return 'error';
  return result.content?.[0]?.text === 'right' ? 'right' : 'result';
}

describe.each(CLIENT_KINDS)('$version over $transport', (kind) => {
  test('every call gets one answer, and the next call of the same server works', async () => {
    const names = [...new Set(ROWS.map(({ server }) => server))];
    const servers = Object.fromEntries(names.map((name) => [name.replace('-', '_'), nodeServer(name)]));
    const config = { timeouts: { rpcMs: 5000 } };
    const client = await connectHostile(kind, { echo: nodeServer('echo'), ...servers }, { config });
    for (const name of ['echo', ...names]) await expectEcho(client, name);
    const before = { files: openFiles(client.pid), memory: rss(client.pid) };
    for (const { server, tool, outcome, args } of ROWS) {
      const seen = outcomeOf(await call(client, server, tool, args));
      expect(outcome.split(' or '), `${server} ${tool}`).toContain(seen);
      await expectEcho(client, server);
      await expectEcho(client, 'echo');
    }
    expect(client.problems()).toEqual([]);
    expect(client.log().match(/spawned server=/g)).toHaveLength(names.length + 1);
    expect(openFiles(client.pid)).toBeLessThanOrEqual(before.files + 2);
    expect(rss(client.pid) - before.memory).toBeLessThan(128);
  });
});

function call(
  client: HostileClient,
  server: string,
  subtool: string,
  args: object = {},
): Promise<RpcMessage> {
  return client.call(`${server.replace('-', '_')}_suite`, { action: 'call', subtool, args });
}

async function expectEcho(client: HostileClient, server: string): Promise<void> {
  const { result } = await call(client, server, 'echo', { text: 'echo' });
  expect(result?.content?.[0]?.text, server).toBe('echo');
}
