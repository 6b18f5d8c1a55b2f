import { describe, expect, it } from 'vitest';
import { startAnthropicServer } from '../../../test/models/anthropic-server.ts';
import { startOpenaiServer } from '../../../test/models/openai-server.ts';
import type { AskClient } from '../model.ts';
import { chooseModel } from './choose.ts';
import { failureWith, HELLO, KEY, QUICK, requestOf } from './http-model.cases.ts';

type Settings = Parameters<typeof chooseModel>[0];
type Env = Parameters<typeof chooseModel>[1];

const ask: AskClient = () => Promise.resolve({ content: { type: 'text', text: 'Hm.' } });
const BASE = 'http://127.0.0.1:9';

describe('the model is', () => {
  it.each<[string, Settings, Env, string]>([
    ['that of the client where nothing is set', {}, {}, 'host host'],
    ['that of the client where it is named', { model: 'host' }, { ANTHROPIC_API_KEY: KEY }, 'host host'],
    ['that of the client by its provider', { provider: 'host', model: 'x' }, {}, 'host host'],
    ['that of the client where a variable is empty', {}, { ANTHROPIC_API_KEY: ' ' }, 'host host'],
    ['a small one of Anthropic with its key', {}, { ANTHROPIC_API_KEY: KEY }, 'anthropic claude-haiku-5-5'],
    ['the same with the other name of the key', {}, { CLAUDE_API_KEY: KEY }, 'anthropic claude-haiku-5-5'],
    ['the same with a key in the settings', { apiKey: KEY }, {}, 'anthropic claude-haiku-5-5'],
    ['one of Anthropic by its name', { model: 'claude-x', apiKey: KEY }, {}, 'anthropic claude-x'],
    ['another by its name', { model: 'gpt-x' }, { OPENAI_API_KEY: KEY }, 'openai gpt-x'],
    ['another by its address', { model: 'qwen', baseUrl: BASE }, { ANTHROPIC_API_KEY: KEY }, 'openai qwen'],
    ['one by the provider', { provider: 'openai', model: 'claude-x', baseUrl: BASE }, {}, 'openai claude-x'],
    ['one by the provider', { provider: 'anthropic', model: 'x', apiKey: KEY }, {}, 'anthropic x'],
    ['named by a variable', {}, { SWITCHBOARD_LANGUAGE_MODEL: 'host', CLAUDE_API_KEY: KEY }, 'host host'],
    [
      'named and found by variables',
      {},
      { SWITCHBOARD_LANGUAGE_MODEL: 'qwen', SWITCHBOARD_LANGUAGE_BASE_URL: BASE },
      'openai qwen',
    ],
    [
      'that of the settings before that of a variable',
      { model: 'claude-x' },
      { SWITCHBOARD_LANGUAGE_MODEL: 'qwen', CLAUDE_API_KEY: KEY },
      'anthropic claude-x',
    ],
  ])('%s', async (_, settings, env, expected) => {
    const { provider, name } = await chooseModel(settings, env, ask);
    expect(`${provider} ${name}`).toBe(expected);
  });
});

describe('there is a clear error where', () => {
  it.each<[string, Settings, Env, string, RegExp]>([
    ['nobody has a model', {}, {}, 'LANGUAGE_NO_MODEL', /ANTHROPIC_API_KEY/],
    ['Anthropic needs a key', { model: 'claude-x' }, {}, 'LANGUAGE_KEY_MISSING', /Set ANTHROPIC_API_KEY/],
    ['OpenAI needs a key', { model: 'gpt-x' }, {}, 'LANGUAGE_KEY_MISSING', /Set OPENAI_API_KEY/],
    ['the model is not named', { baseUrl: BASE }, {}, 'LANGUAGE_MODEL_MISSING', /"model"/],
    ['the address is none', { model: 'x', baseUrl: 'localhost' }, {}, 'LANGUAGE_BAD_ADDRESS', /"baseUrl"/],
    ['it is no web address', { model: 'x', baseUrl: 'file:///x' }, {}, 'LANGUAGE_BAD_ADDRESS', /"baseUrl"/],
    [
      'a password is in it',
      { model: 'x', baseUrl: `http://u:${KEY}@h` },
      {},
      'LANGUAGE_BAD_ADDRESS',
      /"baseUrl"/,
    ],
    [
      'the key is no key',
      { model: 'claude-x', apiKey: `${KEY}\nx` },
      {},
      'LANGUAGE_KEY_REFUSED',
      /Copy it again/,
    ],
  ])('%s', async (_, settings, env, code, hint) => {
    const error = await failureWith(chooseModel(settings, env, undefined));
    expect(error.code).toBe(code);
    expect(error.hint).toMatch(hint);
  });
});

describe('the address', () => {
  it.each(['', '/', '/v1', '/v1/', '/v1/messages'])(
    'of a model of Anthropic may end with "%s"',
    async (end) => {
      const server = await startAnthropicServer(['Yes.']);
      const env = { ANTHROPIC_BASE_URL: server.url + end, ANTHROPIC_API_KEY: `${KEY}\n` };
      const model = await chooseModel({}, env, undefined, QUICK);
      expect((await model.reply(requestOf(HELLO))).text).toBe('Yes.');
    },
  );

  it.each(['', '/', '/v1', '/v1/', '/v1/chat/completions'])('of another may end with "%s"', async (end) => {
    const server = await startOpenaiServer(['Yes.'], { key: KEY });
    const env = { OPENAI_BASE_URL: server.url + end, OPENAI_API_KEY: KEY };
    const model = await chooseModel({ model: 'qwen' }, env, undefined, QUICK);
    expect((await model.reply(requestOf(HELLO))).text).toBe('Yes.');
  });

  it('of another may have a path of its own, and a query', async () => {
    const server = await startOpenaiServer(['Yes.'], { path: '/openai/v2/chat/completions' });
    const model = await chooseModel(
      { model: 'qwen', baseUrl: `${server.url}/openai/v2/?api-version=1` },
      {},
      undefined,
      QUICK,
    );
    await model.reply(requestOf(HELLO));
    expect(server.requests[0]?.path).toBe('/openai/v2/chat/completions?api-version=1');
  });
});
