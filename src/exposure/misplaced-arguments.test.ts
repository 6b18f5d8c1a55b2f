import { describe, expect, test } from 'vitest';
import { Gateway } from '../gateway/index.ts';
import { compound } from './compound/compound.ts';
import { sendToolCall, recordingSource, SAMPLE_TOOLS } from './exposure.cases.ts';
import { suite } from './suite/suite.ts';

const PLAIN = '{"name":"now","inputSchema":{"type":"object","properties":{"zone":{"type":"string"}}}}';

function gatewayOf() {
  const source = recordingSource('files', [...SAMPLE_TOOLS, PLAIN]);
  const gateway = new Gateway({
    entries: [
      {
        source,
        rules: { allows: () => true, overrides: new Map() },
        offers: new Set(['tools'] as const),
        naming: 'prefixed',
        exposure: suite({
          name: undefined,
          description: undefined,
          purpose: undefined,
          summaryMaxChars: 160,
          instructionsMaxChars: 2000,
          introspection: 'full',
        }),
      },
    ],
    overall: [
      compound({
        name: 'both',
        description: 'Both.',
        subtools: [{ server: 'files', tools: [{ name: 'read' }] }],
        summaryMaxChars: 160,
      }),
    ],
  });
  const call = (args: object): Promise<string> =>
    sendToolCall(gateway, JSON.stringify({ name: 'files_suite', arguments: { action: 'call', ...args } }));
  return { gateway, source, call };
}

const CORRECTED = '{"action":"call","subtool":"read","args":{"path":"/a"}}';

describe('arguments beside args', () => {
  test.each([
    ['are left where they were', { subtool: 'read', path: '/a' }, CORRECTED],
    ['with an empty args', { subtool: 'read', args: {}, path: '/a' }, CORRECTED],
    ['with args that are null', { subtool: 'read', args: null, path: '/a' }, CORRECTED],
    ['in arguments', { subtool: 'read', arguments: { path: '/a' } }, CORRECTED],
    [
      'by a wrong name',
      { subtool: 'read', file: '/a' },
      '{"action":"call","subtool":"read","args":{"file":"/a"}}',
    ],
  ])('run nothing, and the answer is the call as it should be: %s', async (_what, args, corrected) => {
    const { source, call } = gatewayOf();
    const answer = await call(args);
    expect(answer).toContain('its arguments belong in "args"');
    expect(answer).toContain(corrected);
    expect(source.sent).toEqual([]);
  });

  test('are shown without their values where they are long', async () => {
    const { call } = gatewayOf();
    const answer = await call({ subtool: 'read', path: 'x'.repeat(100_000) });
    expect(answer).toContain('{"action":"call","subtool":"read","args":{"path":"…"}}');
    expect(answer.length).toBeLessThan(1000);
  });

  test('of a compound tool run nothing either', async () => {
    const { gateway, source } = gatewayOf();
    const answer = await sendToolCall(
      gateway,
      '{"name":"both","arguments":{"server":"files","tool":"read","path":"/a"}}',
    );
    expect(answer).toContain('{"server":"files","tool":"read","args":{"path":"/a"}}');
    expect(source.sent).toEqual([]);
  });
});

test.each([
  ['none', { subtool: 'now' }],
  ['what a tool without required arguments does not take', { subtool: 'now', reason: 'asked for' }],
  ['what a host adds for itself', { subtool: 'read', _meta: {} }],
  ['something beside args', { subtool: 'read', args: { path: '/a' }, path: '/b' }],
])('a call runs with %s', async (_what, args) => {
  const { source, call } = gatewayOf();
  await call(args);
  expect(source.sent).toHaveLength(1);
});
