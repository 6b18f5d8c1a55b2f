/** Servers behind a language model, with the models of two APIs: the built program, real servers, official clients. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KEY, startLanguageHarness } from '../helpers/language-harness.ts';
import { startAnthropicServer } from '../models/anthropic-server.ts';
import { Brain, heardByAnthropic, heardByOpenai } from '../models/brain.ts';
import type { ModelServer } from '../models/model-server.ts';
import { startOpenaiServer } from '../models/openai-server.ts';
import {
  call,
  consentCases,
  languageCases,
  leavingCases,
  tell,
  type Person,
  type ScriptedHarness,
} from './language.cases.ts';

const apis = {
  Anthropic: {
    client: 'SDK v1' as const,
    start: (brain: Brain) => startAnthropicServer(brain.script(heardByAnthropic)),
    settings: (url: string) => ({ provider: 'anthropic', model: 'claude-scripted', baseUrl: url }),
  },
  OpenAI: {
    client: 'SDK v2, 2026-07-28' as const,
    start: (brain: Brain) => startOpenaiServer(brain.script(heardByOpenai), { key: KEY }),
    settings: (url: string) => ({ model: 'scripted', baseUrl: `${url}/v1` }),
  },
};

describe.each(Object.entries(apis))('with a model of the API of %s', (_name, { client, start, settings }) => {
  const brain = new Brain();
  const person: Person = { answer: () => ({}), asked: [] };
  let model: ModelServer;
  let spoken: ScriptedHarness;
  const open = async (): Promise<ScriptedHarness> => ({
    brain,
    harness: await startLanguageHarness({
      client,
      settings: { ...settings(model.url), apiKey: KEY },
      capabilities: { elicitation: { form: {} } },
      answer: (_method, params, signal) => {
        person.asked.push(params.message);
        return person.answer(signal);
      },
    }),
  });

  beforeAll(async () => {
    model = await start(brain);
    spoken = await open();
  });
  afterAll(async () => {
    await spoken.harness.close();
    await model.close();
  });

  languageCases(() => spoken);
  consentCases(() => spoken, person);

  test('nothing is asked that the API would refuse, and all of it as a stream', () => {
    expect(model.requests.filter(({ fault }) => fault !== undefined)).toEqual([]);
    expect(model.requests.every(({ body }) => body.stream === true)).toBe(true);
  });

  test('an overload is waited out and reported', async () => {
    const steps: string[] = [];
    const result = await tell(
      spoken,
      'memory',
      'have patience',
      ({ asked }) =>
        asked === 0
          ? { status: 529, retryAfter: 0 }
          : asked === 1
            ? { status: 429, retryAfter: 0 }
            : `Asked ${asked + 1} times.`,
      { onprogress: ({ message }) => steps.push(message ?? '') },
    );
    expect(result.content[0].text).toBe('Asked 3 times.');
    expect(result.structuredContent.steps).toBe(1);
    expect(steps.slice(1)).toEqual([
      expect.stringMatching(/ again in .* overloaded/),
      expect.stringMatching(/ again in .* rate limit/),
    ]);
  });

  test('invalid JSON arguments are reported to the model', async () => {
    const result = await tell(spoken, 'brief', 'stammer', ({ turn, results }) =>
      turn === 0 ? { calls: [{ name: 'echo', inputText: '{"text": ' }] } : results[0]!,
    );
    expect(result.content[0].text).toContain('The arguments are invalid');
    expect(result.structuredContent.calls).toMatchObject([{ tool: 'echo', outcome: 'rejected' }]);
  });

  test.each([
    ['is cut', 'break', 'LANGUAGE_BROKEN_OFF'],
    ['ends too early', 'end', 'LANGUAGE_BROKEN_OFF'],
    ['is no JSON', 'garbage', 'LANGUAGE_BAD_OUTPUT'],
  ] as const)('an answer that %s is no answer, and nothing of it is run', async (what, midway, code) => {
    const result = await tell(spoken, 'brief', `answer so that it ${what}`, ({ turn }) =>
      turn === 0 ? call('echo', { text: 'once' }) : { ...call('echo', { text: 'twice' }), midway },
    );
    expect(result.isError).toBe(true);
    expect(result.structuredContent.stopped.code).toBe(code);
    expect(result.structuredContent.calls).toMatchObject([{ arguments: { text: 'once' }, outcome: 'ok' }]);
  });

  test('a missing or rejected key is reported and never shown', async () => {
    const missing = await tell(spoken, 'keyless', 'let me in', () => 'Come in.');
    expect(missing.isError).toBe(true);
    expect(JSON.stringify(missing)).toMatch(/No API key is set for model '.*scripted'.*_API_KEY/);
    const refused = await tell(spoken, 'memory', 'let me in as well', () => ({
      status: 401,
      message: `Wrong key ${KEY}`,
    }));
    expect(refused.structuredContent.stopped.code).toBe('LANGUAGE_KEY_REFUSED');
    expect(JSON.stringify(refused)).not.toContain(KEY);
  });

  test('a model that takes too long is left', async () => {
    const query = 'take your time';
    const result = await tell(spoken, 'hasty', query, () => ({ text: 'Well', midway: 'hang' }));
    expect(result.structuredContent.stopped.code).toBe('LANGUAGE_TIMEOUT');
    await (
      await brain.asked(query)
    ).abandoned;
  });

  leavingCases(open);
});
