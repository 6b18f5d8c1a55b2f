import { describe, expect, it } from 'vitest';
import type { ModelServer } from '../../../test/models/model-server.ts';
import type { Script, ScriptedTurn } from '../../../test/models/script.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import type { Model, ModelReply, ModelRequest, ModelMessage } from '../model.ts';

export interface HttpModelSetup {
  readonly start: (script: Script) => Promise<ModelServer>;
  readonly model: (url: string) => Promise<Model>;
}

export const KEY = 'sk-test-0123456789abcdef';

/** Short waits keep the tests fast. */
export const QUICK = { tries: 4, firstMs: 2, longestMs: 20 };

export function requestOf(turns: readonly ModelMessage[], more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    system: 'You keep notes.',
    turns,
    tools: [
      { name: 'add', description: 'Adds a note.', inputSchema: { type: 'object', properties: { note: {} } } },
      { name: 'list', description: '', inputSchema: { type: 'object' } },
    ],
    maxTokens: 1000,
    signal: new AbortController().signal,
    ...more,
  };
}

export const HELLO: readonly ModelMessage[] = [{ from: 'user', text: 'Hello' }];

export async function failureWith(reply: Promise<unknown>): Promise<SwitchboardError> {
  const error = await reply.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof SwitchboardError)) throw new Error(`Not an error for a person: ${String(error)}`);
  expect(error.explained + String(error.cause)).not.toContain(KEY);
  return error;
}

/** What applies to every model that is reached over HTTP. */
export function httpModelCases(name: string, { start, model: make }: HttpModelSetup): void {
  const told = async (...script: ScriptedTurn[]): Promise<{ server: ModelServer; model: Model }> => {
    const server = await start(script);
    return { server, model: await make(server.url) };
  };
  const ask = async (turn: ScriptedTurn): Promise<ModelReply> =>
    (await told(turn)).model.reply(requestOf(HELLO));

  describe(`${name}: what it says`, () => {
    it('is read from a stream, with its tokens', async () => {
      const reply = await ask({ text: 'Good morning.', usage: { input: 33, output: 7 } });
      expect(reply).toMatchObject({ text: 'Good morning.', calls: [], stop: 'done' });
      expect(reply.usage).toEqual({ input: 33, output: 7 });
    });

    it('may be nothing', async () => {
      expect(await ask('')).toMatchObject({ text: '', calls: [], stop: 'done' });
    });

    it('keeps characters whole that arrive in two pieces', async () => {
      expect((await ask({ text: 'Zoë 🌍 café' })).text).toBe('Zoë 🌍 café');
    });

    it('has no tokens if the server does not report them', async () => {
      expect((await ask({ text: 'Hm.', usage: null })).usage).toBeUndefined();
    });

    it('may be cut off', async () => {
      expect((await ask({ text: 'And so', stop: 'length' })).stop).toBe('length');
    });

    it('may be a refusal', async () => {
      expect((await ask({ text: 'No.', stop: 'refused' })).stop).toBe('refused');
    });

    it('may be several calls at one time', async () => {
      const reply = await ask({
        text: 'Let me see.',
        calls: [
          { id: 'one', name: 'add', input: { note: { deep: ['ä', 1] } } },
          { id: 'two', name: 'list' },
        ],
      });
      expect(reply).toMatchObject({ text: 'Let me see.', stop: 'calls' });
      expect(reply.calls).toEqual([
        { id: 'one', name: 'add', input: { note: { deep: ['ä', 1] } } },
        { id: 'two', name: 'list', input: {} },
      ]);
    });

    it.each([
      ['{"note": ', /not valid JSON/],
      ['["note"]', /not a JSON object/],
    ])('may have arguments that are no object: %s', async (inputText, wrong) => {
      const { model } = await told({ calls: [{ id: 'one', name: 'add', inputText }] }, 'Sorry.');
      const reply = await model.reply(requestOf(HELLO));
      expect(reply.calls[0]).toMatchObject({ id: 'one', name: 'add', input: undefined });
      expect(reply.calls[0]?.malformed).toMatch(wrong);
      // It does not affect the rest of the conversation.
      const answer = {
        id: 'one',
        name: 'add',
        content: [{ type: 'text', text: 'Write JSON.' }],
        isError: true,
      };
      const turns: ModelMessage[] = [
        ...HELLO,
        { from: 'model', reply },
        { from: 'tools', results: [answer] },
      ];
      expect((await model.reply(requestOf(turns))).text).toBe('Sorry.');
    });
  });

  describe(`${name}: a conversation`, () => {
    it('goes on with results, also of two calls, a failed one, and one of nothing', async () => {
      const calls = [
        { id: 'one', name: 'add', input: { note: 'x' } },
        { id: 'two', name: 'list' },
      ];
      const { server, model } = await told({ calls }, { calls: [{ id: 'three', name: 'list' }] }, 'Done.');
      const turns: ModelMessage[] = [...HELLO];
      const first = await model.reply(requestOf(turns));
      turns.push({ from: 'model', reply: first });
      turns.push({
        from: 'tools',
        results: [
          { id: 'one', name: 'add', content: [{ type: 'text', text: 'Full.' }], isError: true },
          { id: 'two', name: 'list', content: [], isError: false },
        ],
      });
      const second = await model.reply(requestOf(turns));
      turns.push({ from: 'model', reply: second });
      turns.push({
        from: 'tools',
        results: [{ id: 'three', name: 'list', content: [{ type: 'text', text: '' }], isError: false }],
      });
      turns.push({ from: 'user', text: 'Be brief.' });
      expect(await model.reply(requestOf(turns))).toMatchObject({ text: 'Done.', stop: 'done' });
      expect(server.requests.map(({ fault }) => fault)).toEqual([undefined, undefined, undefined]);
      expect(JSON.stringify(server.requests[2]?.body)).toContain('Full.');
    });

    it('goes on after an answer of nothing', async () => {
      const { model } = await told('', 'Now.');
      const reply = await model.reply(requestOf(HELLO));
      const turns: ModelMessage[] = [...HELLO, { from: 'model', reply }, { from: 'user', text: 'Well?' }];
      expect((await model.reply(requestOf(turns))).text).toBe('Now.');
    });

    it('needs neither tools nor a system prompt', async () => {
      const { server, model } = await told('Yes.');
      expect((await model.reply(requestOf(HELLO, { tools: [], system: '' }))).text).toBe('Yes.');
      expect(server.requests[0]?.body.tools).toBeUndefined();
    });
  });

  describe(`${name}: what passes`, () => {
    it.each([
      ['an overload', { status: 529 }],
      ['too many requests', { status: 429 }],
      ['a failure inside', { status: 500 }],
      ['a page of a proxy', { status: 502, page: '<html>Bad gateway</html>' }],
      ['a connection that is dropped', { instead: 'drop' as const }],
      ['an error in the middle of an answer', { text: 'One two three', midway: 'error' as const }],
    ])('%s is waited out', async (_, turn) => {
      const { server, model } = await told(turn, turn, 'Here I am.');
      const retries: [string, number][] = [];
      const onRetry = (reason: string, waitMs: number): void => void retries.push([reason, waitMs]);
      expect((await model.reply(requestOf(HELLO, { onRetry }))).text).toBe('Here I am.');
      expect(server.requests).toHaveLength(3);
      expect(retries).toHaveLength(2);
      expect(retries[0]?.[0]).toMatch(/^it(s rate limit)? (is|failed|cannot)/);
    });

    it('waits as long as the server says, within limits', async () => {
      const { model } = await told({ status: 429, retryAfter: 0 }, { status: 529, retryAfter: 3600 }, 'Yes.');
      const waits: number[] = [];
      await model.reply(requestOf(HELLO, { onRetry: (_, waitMs) => waits.push(waitMs) }));
      expect(waits).toEqual([0, QUICK.longestMs]);
    });

    it('is given up after four tries', async () => {
      const { server, model } = await told(...Array.from({ length: 6 }, () => ({ status: 529 })));
      const error = await failureWith(model.reply(requestOf(HELLO)));
      expect(error.code).toBe('LANGUAGE_OVERLOADED');
      expect(error.message).toContain(`'${model.name}' at ${new URL(server.url).host}`);
      expect(server.requests).toHaveLength(4);
    });
  });

  describe(`${name}: what does not pass`, () => {
    it.each([
      [{ status: 401, message: `Bad key ${KEY}` }, 'LANGUAGE_KEY_REFUSED'],
      [{ status: 403, message: `Not with ${KEY}` }, 'LANGUAGE_KEY_REFUSED'],
      [{ status: 402 }, 'LANGUAGE_QUOTA'],
      [{ status: 404, message: 'model: none of this name' }, 'LANGUAGE_MODEL_UNKNOWN'],
      [{ status: 413 }, 'LANGUAGE_TOO_LONG'],
      [{ status: 400, message: 'prompt is too long: 9 tokens > 8 maximum' }, 'LANGUAGE_TOO_LONG'],
      [{ status: 400, message: `Odd thing with ${KEY}` }, 'LANGUAGE_REQUEST_REFUSED'],
      [{ status: 302, page: '' }, 'LANGUAGE_REQUEST_REFUSED'],
      [{ text: 'One two three', midway: 'break' as const }, 'LANGUAGE_BROKEN_OFF'],
      [{ text: 'One two three', midway: 'end' as const }, 'LANGUAGE_BROKEN_OFF'],
      [{ text: 'One two three', midway: 'garbage' as const }, 'LANGUAGE_BAD_OUTPUT'],
    ])('%o is told at once', async (turn, code) => {
      const { server, model } = await told(turn, 'Too late.');
      const error = await failureWith(model.reply(requestOf(HELLO)));
      expect(error.code).toBe(code);
      expect(error.hint).toBeTruthy();
      expect(error.message).toContain(new URL(server.url).host);
      expect(server.requests).toHaveLength(1);
    });

    it('an answer without end is cut off', async () => {
      const { server, model } = await told({ midway: 'flood' });
      const error = await failureWith(model.reply(requestOf(HELLO)));
      expect(error.code).toBe('LANGUAGE_BAD_OUTPUT');
      expect(error.message).toContain('larger than 16 MB');
      await server.requests[0]?.over;
      expect(server.requests[0]?.gone).toBe(true);
    });

    it('an unreachable server is reported after some tries', async () => {
      const { server, model } = await told();
      await server.close();
      const error = await failureWith(model.reply(requestOf(HELLO)));
      expect(error.code).toBe('LANGUAGE_UNREACHABLE');
      expect(error.message).toContain('ECONNREFUSED');
    });
  });

  describe(`${name}: an abort`, () => {
    const reason = new Error('Enough.');

    it.each([
      ['before the answer', { instead: 'hang' as const }],
      ['in the middle of the answer', { text: 'One two three', midway: 'hang' as const }],
    ])('%s closes the connection', async (_, turn) => {
      const { server, model } = await told(turn);
      const controller = new AbortController();
      const reply = model.reply(requestOf(HELLO, { signal: controller.signal }));
      const [request] = await Promise.all([server.asked(0), expect(reply).rejects.toBe(reason), abortSoon()]);
      await request.over;
      expect(request.gone).toBe(true);
      expect(server.requests).toHaveLength(1);

      async function abortSoon(): Promise<void> {
        await server.asked(0);
        controller.abort(reason);
      }
    });

    it('ends the wait before another try', async () => {
      const server = await start([{ status: 529, retryAfter: 1 }]);
      const model = await make(server.url);
      const controller = new AbortController();
      const onRetry = (): void => controller.abort(reason);
      await expect(model.reply(requestOf(HELLO, { signal: controller.signal, onRetry }))).rejects.toBe(
        reason,
      );
      expect(server.requests).toHaveLength(1);
    });

    it('before the start sends no request', async () => {
      const { server, model } = await told('No.');
      const signal = AbortSignal.abort(reason);
      await expect(model.reply(requestOf(HELLO, { signal }))).rejects.toBe(reason);
      expect(server.requests).toHaveLength(0);
    });
  });
}
