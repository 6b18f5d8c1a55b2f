import { expect, it } from 'vitest';
import { startAnthropicServer } from '../../../test/models/anthropic-server.ts';
import type { Model, ModelMessage } from '../model.ts';
import { chooseModel } from './choose.ts';
import { failureWith, HELLO, httpModelCases, KEY, QUICK, requestOf } from './http-model.cases.ts';

const model = (url: string): Promise<Model> =>
  chooseModel({ model: 'claude-test', baseUrl: url, apiKey: KEY }, {}, undefined, QUICK);

httpModelCases('a model of Anthropic', { start: startAnthropicServer, model });

it('the parts that only the model reads are given back as they came', async () => {
  const server = await startAnthropicServer([
    { thinking: 'A note, hm.', calls: [{ id: 'one', name: 'list' }] },
    'None.',
  ]);
  const claude = await model(server.url);
  const reply = await claude.reply(requestOf(HELLO));
  expect(reply.text).toBe('');
  const result = { id: 'one', name: 'list', content: [], isError: false };
  const turns: ModelMessage[] = [...HELLO, { from: 'model', reply }, { from: 'tools', results: [result] }];
  // The server rejects a thought whose signature is missing.
  expect((await claude.reply(requestOf(turns))).text).toBe('None.');
  expect(server.requests[1]?.body.messages[1].content[0]).toMatchObject({
    type: 'thinking',
    thinking: 'A note, hm.',
  });
});

it('the images of a result are shown where the API takes them, and named where not', async () => {
  const server = await startAnthropicServer([{ calls: [{ id: 'one', name: 'list' }] }, 'A dot.']);
  const claude = await model(server.url);
  const reply = await claude.reply(requestOf(HELLO));
  const data = Buffer.from('not really a picture').toString('base64');
  const content = [
    { type: 'image', mimeType: 'image/png', data },
    { type: 'image', mimeType: 'image/tiff', data },
    { type: 'image', mimeType: 'image/png', data: 'A'.repeat(6 * 1024 * 1024) },
    { type: 'resource', resource: { uri: 'file:///a.webp', mimeType: 'image/webp', blob: data } },
    { type: 'resource', resource: { uri: 'file:///a.txt', text: 'words' } },
    { type: 'audio', mimeType: 'audio/wav', data },
    { type: 'resource_link', uri: 'file:///b', name: 'b' },
  ];
  const results = [{ id: 'one', name: 'list', content, isError: false }];
  await claude.reply(requestOf([...HELLO, { from: 'model', reply }, { from: 'tools', results }]));
  const [shown] = server.requests[1]!.body.messages[2].content;
  expect(shown.content.map((block: any) => block.source?.media_type ?? block.text)).toEqual([
    'image/png',
    '[An image (image/tiff, 1 kB) is part of the result; you cannot see it.]',
    '[An image (image/png, 4719 kB) is part of the result; you cannot see it.]',
    'image/webp',
    '[file:///a.txt]\nwords',
    '[A sound (audio/wav, 1 kB) is part of the result; you cannot see it.]',
    '[Link to file:///b, b]',
  ]);
});

it('what is read again in a loop is marked to be kept', async () => {
  const server = await startAnthropicServer([{ calls: [{ id: 'one', name: 'list' }] }, 'None.']);
  const claude = await model(server.url);
  const reply = await claude.reply(requestOf(HELLO));
  const results = [{ id: 'one', name: 'list', content: [], isError: false }];
  await claude.reply(requestOf([...HELLO, { from: 'model', reply }, { from: 'tools', results }]));
  const { system, tools, messages } = server.requests[1]!.body;
  for (const kept of [system[0], tools.at(-1), messages.at(-1).content.at(-1)]) {
    expect(kept.cache_control).toEqual({ type: 'ephemeral' });
  }
  expect(tools[0].cache_control).toBeUndefined();
});

it('the key is sent in both headers to a server that is not the API itself', async () => {
  const server = await startAnthropicServer(['Yes.']);
  await (await model(`${server.url}/v1/`)).reply(requestOf(HELLO));
  const { headers, path } = server.requests[0]!;
  expect(path).toBe('/v1/messages');
  expect(headers['x-api-key']).toBe(KEY);
  expect(headers.authorization).toBe(`Bearer ${KEY}`);
});

it('exhausted credit is reported as such', async () => {
  const message = 'Your credit balance is too low to access the API.';
  const server = await startAnthropicServer([{ status: 400, message }]);
  const error = await failureWith((await model(server.url)).reply(requestOf(HELLO)));
  expect(error.code).toBe('LANGUAGE_QUOTA');
});
