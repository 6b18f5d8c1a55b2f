import { afterEach, expect, test } from 'vitest';
import { Component, type OfferedTool } from '../gateway/index.ts';
import type { JsonObject } from '../protocol/index.ts';
import { Consent, type ConsentOptions } from './consent.ts';
import { TimeLimit } from '../shared/time-limit.ts';

const time = new TimeLimit(60_000);
afterEach(() => time.close());

function offered(name: string, annotations?: JsonObject): OfferedTool {
  const component = new Component(
    name,
    JSON.stringify({ name, inputSchema: { type: 'object' }, annotations }),
  );
  return { name, original: name, component, presets: undefined };
}

const drop = offered('drop', { destructiveHint: true });
const never = new AbortController().signal;

/** A consent whose user answers each question in this way. */
function withPerson(answer: () => Promise<JsonObject>, more: Partial<ConsentOptions> = {}) {
  const asked: JsonObject[] = [];
  const consent = new Consent({
    server: 'shop',
    allowDestructive: false,
    canElicit: true,
    ask: (method, params) => {
      expect(method).toBe('elicitation/create');
      asked.push(params);
      return answer();
    },
    time,
    tell: () => undefined,
    ...more,
  });
  return { consent, asked };
}

const yes = () => Promise.resolve({ action: 'accept', content: { allow: true } });

test('only what a server marks as destructive is asked about', async () => {
  const { consent, asked } = withPerson(yes);
  const harmless = [
    offered('plain'),
    offered('marked', { destructiveHint: false }),
    offered('reading', { destructiveHint: true, readOnlyHint: true }),
  ];
  for (const tool of harmless) expect(await consent.permit(tool, {}, never)).toEqual({ kind: 'granted' });
  expect(asked).toEqual([]);
  // According to the protocol, a tool that changes things and does not say how may be destructive.
  await consent.permit(offered('writing', { readOnlyHint: false }), {}, never);
  expect(asked).toHaveLength(1);
});

test('the person sees server, tool and arguments, and one yes is for one call', async () => {
  const { consent, asked } = withPerson(yes);
  expect(await consent.permit(drop, { table: 'orders' }, never)).toEqual({ kind: 'granted' });
  expect(await consent.permit(drop, { table: 'orders' }, never)).toEqual({ kind: 'granted' });
  expect(asked).toHaveLength(2);
  expect(asked[0]!.message).toBe(
    `Allow 'drop' of server 'shop' to run? It may be destructive. Its arguments: {"table":"orders"}`,
  );
  expect(asked[0]!.requestedSchema).toMatchObject({
    type: 'object',
    properties: { allow: { type: 'boolean', default: false } },
    required: ['allow'],
  });
});

test('long arguments are shortened, and what follows them is seen all the same', async () => {
  const { consent, asked } = withPerson(yes);
  const long = 'x'.repeat(5000);
  await consent.permit(drop, { text: long, more: { note: long, path: '/home' }, force: true }, never);
  expect(asked[0]!.message).toMatch(/"text":"x+ … and 4700 more characters","more":/);
  expect(asked[0]!.message).toMatch(/"path":"\/home"\},"force":true\}$/);
  await consent.permit(drop, { all: Array.from({ length: 5000 }, () => 7) }, never);
  expect(asked[1]!.message).toMatch(/ … and 6009 more characters$/);
});

test.each([
  { action: 'decline' },
  { action: 'cancel' },
  { action: 'accept', content: { allow: false } },
  { action: 'accept', content: { allow: 'true' } },
  { action: 'accept' },
  { content: { allow: true } },
])('anything but a clear yes is a no: %j', async (answer) => {
  const { consent } = withPerson(() => Promise.resolve(answer));
  expect(await consent.permit(drop, {}, never)).toMatchObject({ kind: 'declined' });
});

test('what was declined is not asked again with the same arguments', async () => {
  const { consent, asked } = withPerson(() => Promise.resolve({ action: 'decline' }));
  for (const table of ['orders', 'orders', 'people']) {
    expect(await consent.permit(drop, { table }, never)).toMatchObject({ kind: 'declined' });
  }
  expect(asked).toHaveLength(2);
});

test('two questions are never open at one time', async () => {
  let open = 0;
  let most = 0;
  const { consent, asked } = withPerson(async () => {
    most = Math.max(most, ++open);
    await new Promise((resolve) => setImmediate(resolve));
    open--;
    return yes();
  });
  await Promise.all(['a', 'b', 'c'].map((table) => consent.permit(drop, { table }, never)));
  expect([asked.length, most]).toEqual([3, 1]);
});

test('without elicitation it is not allowed, and the message says how to allow it', async () => {
  const { consent, asked } = withPerson(yes, { canElicit: false });
  const { kind, message } = (await consent.permit(drop, {}, never)) as { kind: string; message: string };
  expect(kind).toBe('not allowed');
  expect(message).toContain('"allowDestructive": true');
  expect(asked).toEqual([]);
});

test('a client that fails to ask does not count as a refusal', async () => {
  const { consent } = withPerson(() => Promise.reject(new Error('The window is closed.')));
  expect(await consent.permit(drop, {}, never)).toEqual({
    kind: 'not allowed',
    message: 'It may be destructive, and the user could not be asked: The window is closed.',
  });
});

test('allowDestructive does not ask', async () => {
  const { consent, asked } = withPerson(yes, { allowDestructive: true });
  expect(await consent.permit(drop, {}, never)).toEqual({ kind: 'granted' });
  expect(asked).toEqual([]);
});
