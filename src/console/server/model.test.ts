import { expect, test } from 'vitest';
import type { CallInfo, ServerInfo } from '../protocol.ts';
import { ConsoleModel } from './model.ts';

const call = (id: number, more: Partial<CallInfo> = {}): CallInfo => ({
  ...{ gateway: 'g', id: String(id), client: '1', clientName: null, server: 'a', method: 'tools/call' },
  ...{ name: 'tool', subtool: null, at: id, requestBytes: 1, ms: 1, outcome: 'ok', bytes: 1, ...more },
});

test('ten thousand calls are remembered, a page gets the last thousand, and older ones in pages', () => {
  const model = new ConsoleModel();
  for (let id = 0; id < 10_500; id++)
    model.apply({ type: 'call', call: call(id, { outcome: id % 10 ? 'ok' : 'error' }) });
  const { calls } = model.state({ stream: 's', version: '1', readOnly: false });
  expect([calls.length, calls[0]?.id, calls.at(-1)?.id]).toEqual([1000, '9500', '10499']);
  const first = model.listCalls({ failed: true, limit: 3 });
  expect(first).toMatchObject({ calls: [{ id: '10490' }, { id: '10480' }, { id: '10470' }], more: true });
  const next = model.listCalls({ failed: true, limit: 3, before: { gateway: 'g', call: '10470' } });
  expect(next.calls[0]?.id).toBe('10460');
  expect(model.listCalls({ before: { gateway: 'g', call: '500' } })).toEqual({ calls: [], more: false });
});

test('what belongs to a gateway goes with it, and its running calls end', () => {
  const model = new ConsoleModel();
  const server = { gateway: 'g', name: 'a', state: { kind: 'idle' }, memory: null } as ServerInfo;
  model.apply({ type: 'server', server });
  model.apply({ type: 'server', server: { ...server, gateway: 'h' } });
  model.apply({ type: 'call', call: call(1, { outcome: null, ms: null }) });
  model.apply({ type: 'gateway-ended', gateway: 'g' });
  expect([...model.servers].map(({ gateway }) => gateway)).toEqual(['h']);
  expect(model.listCalls({}).calls[0]?.outcome).toBe('cancelled');
});
