import { expect, test } from 'vitest';
import { ScriptSlots } from './script-slots.ts';

const never = new AbortController().signal;

/** Records who entered, in order. */
function queue() {
  const slots = new ScriptSlots();
  const entered: string[] = [];
  const leave = new Map<string, () => void>();
  return {
    entered,
    enter: (client: object, name: string, signal = never) =>
      slots.enter(client, signal).then((left) => {
        entered.push(name);
        leave.set(name, left);
      }),
    leave: async (name: string) => {
      leave.get(name)?.();
      await new Promise((resume) => setImmediate(resume));
    },
  };
}

test('a client runs four scripts at one time, and others do not wait for it', async () => {
  const { entered, enter, leave } = queue();
  const [one, other] = [{}, {}];
  for (let n = 1; n <= 6; n++) void enter(one, `one ${n}`);
  void enter(other, 'other');
  await leave('');
  expect(entered).toEqual(['one 1', 'one 2', 'one 3', 'one 4', 'other']);
  await leave('one 2');
  expect(entered.at(-1)).toBe('one 5');
  await leave('other');
  expect(entered.length).toBe(6);
});

test('sixteen scripts run at one time, over all clients; one that is cancelled waits no longer', async () => {
  const { entered, enter, leave } = queue();
  for (let n = 1; n <= 16; n++) void enter({}, `${n}`);
  const stop = new AbortController();
  const cancelled = enter({}, 'cancelled', stop.signal);
  void enter({}, 'last');
  await leave('');
  expect(entered.length).toBe(16);
  stop.abort(new Error('no'));
  await expect(cancelled).rejects.toThrow('no');
  await leave('7');
  expect(entered.at(-1)).toBe('last');
});
