import { expect, test } from 'vitest';
import type { CallInfo } from '../../../protocol.ts';
import { timedCalls } from './bursts.ts';

const call = (id: string, at: number, ms: number | null): CallInfo => ({
  gateway: 'g',
  id,
  client: 'c',
  clientName: null,
  server: null,
  method: 'tools/call',
  name: null,
  subtool: null,
  at,
  requestBytes: 0,
  ms,
  outcome: ms === null ? null : 'ok',
  bytes: null,
});

test('bars are relative to their burst, and a pause begins a new one', () => {
  const timed = timedCalls([call('a', 0, 100), call('b', 50, 150), call('c', 60_200, null)], 60_300);
  expect(timed.map(({ from, to, pause }) => [from, to, pause])).toEqual([
    [0, 0.5, null],
    [0.25, 1, null],
    [0, 1, 60_000],
  ]);
});
