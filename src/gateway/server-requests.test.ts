import { expect, test } from 'vitest';
import { SERVER_SHAPE, type JsonObject } from '../protocol/index.ts';
import { Message } from '../wire/index.ts';
import { Session, type ClientLink } from './session.ts';
import type { ServerRequest } from './source.ts';
import { targetSession, relayServerRequest } from './server-requests.ts';

/** A client that has finished its handshake. Only its capabilities are used here. */
function session(capabilities: JsonObject = { elicitation: {} }): Session {
  const made = new Session({ capabilities } as unknown as ClientLink);
  made.ready();
  return made;
}

/**
 * Has a source send a request while calls of these clients run. Returns the client it went to, or the code and text of
 * its refusal.
 */
function asking(
  callers: readonly Session[],
  sessions: readonly Session[],
  params: object = {},
): (ClientLink | [code: number, message: string])[] {
  const outcomes: (ClientLink | [number, string])[] = [];
  const method = 'elicitation/create';
  const question: ServerRequest = {
    method,
    request: Message.from({ jsonrpc: '2.0', id: 1, method, params }, SERVER_SHAPE),
    callers: () => new Set(callers),
    relayTo: (client) => void outcomes.push(client),
    refuse: (code, message) => void outcomes.push([code, message]),
  };
  relayServerRequest(question, new Set(sessions));
  return outcomes;
}

test('the client that is meant is the one whose call runs, or the only one there is, and never a guess', () => {
  const [one, two, three] = [session(), session(), session()];
  const meant = (callers: Session[], sessions: Session[]) =>
    targetSession(new Set(callers), new Set(sessions));
  expect(meant([two], [one, two])).toBe(two);
  expect(meant([], [one])).toBe(one);
  expect(meant([one, two], [one, two])).toBeUndefined();
  expect(meant([one, two], [one, two, three])).toBeUndefined();
  expect(meant([], [one, two])).toBeUndefined();
  expect(meant([], [])).toBeUndefined();
});

test('a question goes to the one caller; with calls of two running it is refused, and neither is asked', () => {
  const [one, two] = [session(), session()];
  expect(asking([two], [one, two])).toEqual([two.client]);
  expect(asking([one, two], [one, two])).toEqual([[-32000, expect.stringContaining('which of several')]]);
  expect(asking([], [one, two])).toEqual([[-32000, expect.stringContaining('which of several')]]);
  expect(asking([], [])).toEqual([[-32000, expect.stringContaining('no client')]]);
});

test.each<[string, JsonObject, { form: boolean; url: boolean }]>([
  ['nothing more', {}, { form: true, url: false }],
  ['forms', { form: {} }, { form: true, url: false }],
  ['pages', { url: {} }, { form: false, url: true }],
  ['both', { form: {}, url: {} }, { form: true, url: true }],
])('a client that declared elicitation with %s is asked only what it can show', (_what, elicitation, can) => {
  const client = session({ elicitation });
  const asked = (params: object) => asking([client], [client], params)[0] === client.client;
  expect({ form: asked({}), url: asked({ mode: 'url' }) }).toEqual(can);
  expect(asked({ mode: 'form' })).toBe(can.form);
});
