import { expect, it } from 'vitest';
import { startOpenaiServer } from '../../../test/models/openai-server.ts';
import type { Model, ModelMessage } from '../model.ts';
import { chooseModel } from './choose.ts';
import { failureWith, HELLO, httpModelCases, KEY, QUICK, requestOf } from './http-model.cases.ts';

const model = (url: string, apiKey: string | undefined = KEY): Promise<Model> =>
  chooseModel({ model: 'qwen-test', baseUrl: url, apiKey }, {}, undefined, QUICK);

httpModelCases('a model behind a compatible API', { start: startOpenaiServer, model });

it.each([
  ['does not stream', { streams: false }],
  ['knows nothing of usage in streams', { tellsUsage: false }],
  ['refuses stream_options', { refuses: ['stream_options'] }],
])('a server that %s is understood', async (what, options) => {
  const turn = { text: 'Let me see.', calls: [{ id: 'one', name: 'list' }] };
  const server = await startOpenaiServer([turn], options);
  const reply = await (await model(server.url)).reply(requestOf(HELLO));
  expect(reply).toMatchObject({
    text: 'Let me see.',
    stop: 'calls',
    calls: [{ id: 'one', name: 'list', input: {} }],
  });
  if (what === 'does not stream') expect(reply.usage).toEqual({ input: 100, output: 10 });
});

it('a server that wants the newer name of a parameter gets it', async () => {
  const message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.";
  const server = await startOpenaiServer(({ body }) =>
    'max_tokens' in body ? { status: 400, message } : 'As you like.',
  );
  const qwen = await model(server.url);
  expect((await qwen.reply(requestOf(HELLO))).text).toBe('As you like.');
  await qwen.reply(requestOf(HELLO));
  expect(server.requests.map(({ body }) => 'max_tokens' in body)).toEqual([true, false, false]);
});

it('a model with a small context is asked for shorter answers, a limited number of times', async () => {
  const message = "This model's maximum context length is 4096 tokens. However, you requested 8292 tokens.";
  const server = await startOpenaiServer(({ body }) =>
    body.max_tokens > 4000 ? { status: 400, message } : 'Short.',
  );
  const small = await model(server.url);
  const request = { ...requestOf(HELLO), maxTokens: 8192 };
  expect((await small.reply(request)).text).toBe('Short.');
  await small.reply(request);
  expect(server.requests.map(({ body }) => body.max_tokens)).toEqual([8192, 2048, 2048]);
  const full = await startOpenaiServer(() => ({ status: 400, message }));
  expect((await failureWith((await model(full.url)).reply(request))).code).toBe('LANGUAGE_TOO_LONG');
  expect(full.requests).toHaveLength(3);
});

it('a server that needs no key gets none, and one that does says so', async () => {
  const open = await startOpenaiServer(['Yes.']);
  const env = {};
  const free = await chooseModel({ model: 'qwen-test', baseUrl: open.url }, env, undefined, QUICK);
  await free.reply(requestOf(HELLO));
  expect(open.requests[0]?.headers.authorization).toBeUndefined();
  const locked = await startOpenaiServer(['Yes.'], { key: KEY });
  const without = await chooseModel({ model: 'qwen-test', baseUrl: locked.url }, env, undefined, QUICK);
  expect((await failureWith(without.reply(requestOf(HELLO)))).code).toBe('LANGUAGE_KEY_MISSING');
  expect((await (await model(locked.url)).reply(requestOf(HELLO))).text).toBe('Yes.');
});

it("an unknown model is reported with the server's message", async () => {
  const server = await startOpenaiServer(['Yes.'], { models: ['other'] });
  const error = await failureWith((await model(server.url)).reply(requestOf(HELLO)));
  expect(error.code).toBe('LANGUAGE_MODEL_UNKNOWN');
  expect(error.message).toContain("The model 'qwen-test' does not exist.");
});

it('a quota that is used up is not waited for', async () => {
  const server = await startOpenaiServer([{ status: 429, kind: 'insufficient_quota' }]);
  const error = await failureWith((await model(server.url)).reply(requestOf(HELLO)));
  expect(error.code).toBe('LANGUAGE_QUOTA');
  expect(server.requests).toHaveLength(1);
});

it('the parts of a result that are not text are named, and a failure is said in words', async () => {
  const calls = [
    { id: 'one', name: 'list' },
    { id: 'two', name: 'list' },
  ];
  const server = await startOpenaiServer([{ calls }, 'I see.']);
  const qwen = await model(server.url);
  const reply = await qwen.reply(requestOf(HELLO));
  const image = { type: 'image', mimeType: 'image/png', data: 'AAAA' };
  const turns: ModelMessage[] = [
    ...HELLO,
    { from: 'model', reply },
    {
      from: 'tools',
      results: [
        { id: 'one', name: 'list', content: [{ type: 'text', text: 'A dot:' }, image], isError: false },
        { id: 'two', name: 'list', content: [{ type: 'text', text: 'No.' }], isError: true },
      ],
    },
  ];
  await qwen.reply(requestOf(turns));
  expect(server.requests[1]?.body.messages.slice(-2)).toEqual([
    {
      role: 'tool',
      tool_call_id: 'one',
      content: 'A dot:\n[An image (image/png, 1 kB) is part of the result; you cannot see it.]',
    },
    { role: 'tool', tool_call_id: 'two', content: 'The tool failed: No.' },
  ]);
});
