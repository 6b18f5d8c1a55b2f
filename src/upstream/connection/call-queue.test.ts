import { expect, test } from 'vitest';
import { Session, type Call, type ClientLink } from '../../gateway/index.ts';
import { CLIENT_SHAPE } from '../../protocol/index.ts';
import { Deadlines } from '../../shared/deadline.ts';
import { Message } from '../../wire/index.ts';
import { CallQueue } from './call-queue.ts';

function queue(limit = 1000) {
  const made = new CallQueue({ server: 's', limit, deadlines: new Deadlines() });
  const client = () => {
    const session = new Session({ fail: () => undefined } as unknown as ClientLink);
    return (id: number): Call => {
      const message = Message.from({ jsonrpc: '2.0', id, method: 'tools/call' }, CLIENT_SHAPE);
      const call = session.open(message, 'tools/call');
      made.add(call, [], 60_000);
      return call;
    };
  };
  const order = (): string[] => {
    const ids: string[] = [];
    for (let next = made.next(); next; next = made.next()) ids.push(next.call.id);
    return ids;
  };
  return { made, client, order };
}

test('the calls of one client go in order', () => {
  const { client, order } = queue();
  const call = client();
  for (const id of [1, 2, 3]) call(id);
  expect(order()).toEqual(['1', '2', '3']);
});

test('clients take turns: who has one call waiting does not wait for a thousand of another', () => {
  const { made, client, order } = queue(2000);
  const [many, one] = [client(), client()];
  for (let id = 1; id <= 1000; id++) many(id);
  one(5000);
  expect(made.size).toBe(1001);
  expect(order().slice(0, 3)).toEqual(['1', '5000', '2']);
  expect(made.size).toBe(0);
});

test('calls that were given up are passed over, however many', () => {
  const { made, client, order } = queue();
  const call = client();
  const calls = Array.from({ length: 500 }, (_, at) => call(at + 1));
  for (const each of calls.slice(0, 499)) each.cancel(undefined);
  expect(made.size).toBe(1);
  expect(order()).toEqual(['500']);
});

test('more than the limit are refused, and all can be taken out at once', () => {
  const { made, client } = queue(2);
  const [one, two] = [client(), client()];
  one(1);
  two(2);
  const refused = two(3);
  expect(refused.open).toBe(false);
  expect(made.takeAll().map(({ call }) => call.id)).toEqual(['1', '2']);
  expect(made.next()).toBeUndefined();
});
