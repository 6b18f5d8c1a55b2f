import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, onTestFinished, test, vi } from 'vitest';
import { SwitchboardError } from '../shared/errors.ts';
import { createLogger } from '../shared/log.ts';
import { Component, ServerError, type OfferedTool } from '../gateway/index.ts';
import type { JsonObject } from '../protocol/index.ts';
import { converse, type ConverseOptions } from './converse.ts';
import type { Model, ModelReply, ModelRequest, ToolUse, ModelMessage } from './model.ts';
import { OUTPUT_SCHEMA } from './report.ts';

const fitsSchema = new Ajv2020().compile(OUTPUT_SCHEMA);

type Line =
  Partial<ModelReply> | ((request: ModelRequest) => Partial<ModelReply> | Promise<Partial<ModelReply>>);

/** A model that returns these lines one after the other, and the last one forever. */
function scripted(...lines: Line[]): Model & { readonly requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    provider: 'openai',
    name: 'small',
    requests,
    reply: async (request) => {
      const line = lines[Math.min(requests.length, lines.length - 1)]!;
      requests.push(request);
      const said = typeof line === 'function' ? await line(request) : line;
      const calls = said.calls ?? [];
      const stop = calls.length > 0 ? 'calls' : 'done';
      return { text: '', calls, stop, usage: { input: 10, output: 5 }, raw: 'kept', ...said };
    },
  };
}

let lastId = 0;

function use(name: string, input: JsonObject = {}): ToolUse {
  return { id: `call-${++lastId}`, name, input };
}

function offered(name: string, annotations?: JsonObject): OfferedTool {
  const component = new Component(
    name,
    JSON.stringify({ name, inputSchema: { type: 'object' }, annotations }),
  );
  return { name, original: name, component, presets: undefined };
}

const tools = ['add', 'find', 'draw']
  .map((name) => offered(name))
  .concat(offered('drop', { destructiveHint: true }));

interface Talk {
  readonly result: JsonObject;
  readonly text: string;
  readonly structured: {
    answer: string;
    calls: JsonObject[];
    stopped?: { code: string; message: string };
  } & JsonObject;
  readonly told: string[];
  readonly logged: string;
}

const ok = { content: [{ type: 'text', text: 'fine' }] };

/** A complete conversation. Every result matches the schema that clients validate it against. */
async function talk(model: Model, more: Partial<ConverseOptions> = {}): Promise<Talk> {
  const told: string[] = [];
  let logged = '';
  const result = await converse({
    server: 'shop',
    model,
    instructions: 'You keep the shop.',
    query: 'what do we have?',
    tools,
    limits: { maxSteps: 12, maxTokens: 100_000, timeoutMs: 60_000, allowDestructive: false },
    run: () => Promise.resolve(ok),
    ask: () => Promise.reject(new Error('Nobody is here.')),
    canElicit: false,
    tell: (message) => told.push(message),
    log: createLogger({ level: 'debug', program: 'test', write: (line) => (logged += line) }),
    signal: new AbortController().signal,
    ...more,
  });
  expect(fitsSchema(result.structuredContent), JSON.stringify(fitsSchema.errors)).toBe(true);
  const text = (result.content as { text: string }[])[0]!.text;
  return { result, text, structured: result.structuredContent as Talk['structured'], told, logged };
}

function limits(changed: Partial<ConverseOptions['limits']>): Pick<ConverseOptions, 'limits'> {
  return {
    limits: { maxSteps: 12, maxTokens: 100_000, timeoutMs: 60_000, allowDestructive: false, ...changed },
  };
}

test('a model that needs no tool answers at once', async () => {
  const { result, told } = await talk(scripted({ text: ' Nothing. ' }));
  expect(result).toEqual({
    content: [{ type: 'text', text: 'Nothing.' }],
    structuredContent: {
      answer: 'Nothing.',
      calls: [],
      steps: 1,
      model: 'small',
      provider: 'openai',
      tokens: { input: 10, output: 5 },
    },
  });
  expect(told).toEqual(['Asking small (step 1)']);
});

test('a call is run and its result given back, until the model is done', async () => {
  const call = use('find', { what: 'tea' });
  const model = scripted({ text: 'Let me look.', calls: [call] }, { text: 'Tea.' });
  const ran: unknown[] = [];
  const { text, structured, told } = await talk(model, {
    context: 'It is a tea shop.',
    run: (tool, args) => {
      ran.push([tool.original, args]);
      return Promise.resolve(ok);
    },
  });
  expect(text).toBe('Tea.');
  expect(ran).toEqual([['find', { what: 'tea' }]]);
  expect(structured).toMatchObject({ steps: 2, tokens: { input: 20, output: 10 } });
  expect(structured.calls).toEqual([
    { tool: 'find', arguments: { what: 'tea' }, outcome: 'ok', ms: expect.any(Number) },
  ]);
  const [first, second] = model.requests;
  expect(first!.system).toMatch(/^You keep the shop\.\n\n/);
  expect(first!.tools.map(({ name }) => name)).toEqual(['add', 'find', 'draw', 'drop']);
  expect(first!.turns).toEqual([
    {
      from: 'user',
      text: expect.stringMatching(/^what do we have\?\n\n.*<context>\nIt is a tea shop\.\n<\/context>$/s),
    },
  ]);
  expect(second!.turns.slice(1)).toEqual([
    { from: 'model', reply: expect.objectContaining({ raw: 'kept' }) },
    { from: 'tools', results: [{ id: call.id, name: 'find', content: ok.content, isError: false }] },
  ]);
  expect(told).toEqual(['Asking small (step 1)', 'Running find', 'Asking small (step 2)']);
});

test('calls of one turn run together, eight at most, and their results come back in order', async () => {
  const calls = Array.from({ length: 20 }, (_, place) => use('find', { place }));
  const model = scripted({ calls }, { text: 'done' });
  let running = 0;
  let most = 0;
  await talk(model, {
    run: async (_tool, args) => {
      most = Math.max(most, ++running);
      // Of two neighbours, the later one ends first.
      for (let turn = (args.place as number) % 2; turn < 2; turn++) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      running--;
      return { content: [{ type: 'text', text: String(args.place) }] };
    },
  });
  expect(most).toBe(8);
  const given = model.requests[1]!.turns.at(-1) as Extract<ModelMessage, { from: 'tools' }>;
  expect(given.results.map(({ id }) => id)).toEqual(calls.map(({ id }) => id));
  expect(given.results.map(({ content }) => Number(content[0]!.text))).toEqual(
    calls.map((_, place) => place),
  );
});

test('content that is not text comes with the answer, from the last result that had any', async () => {
  const picture = (data: string): JsonObject => ({ type: 'image', data, mimeType: 'image/png' });
  const model = scripted(
    { calls: [use('draw', { n: 'AAAA' })] },
    { calls: [use('draw', { n: 'BBBB' }), use('find')] },
    {
      text: 'Here it is.',
    },
  );
  const { result } = await talk(model, {
    run: (tool, { n }) => Promise.resolve(tool.name === 'draw' ? { content: [picture(n as string)] } : ok),
  });
  expect(result.content).toEqual([{ type: 'text', text: 'Here it is.' }, picture('BBBB')]);
});

test('images are kept for the model up to a limit, then described', async () => {
  const image = { type: 'image', mimeType: 'image/png', data: 'A'.repeat(4_000_000) };
  const model = scripted({ calls: Array.from({ length: 7 }, () => use('draw')) }, { text: 'Drawn.' });
  await talk(model, { run: () => Promise.resolve({ content: [image] }) });
  const last = model.requests[1]!.turns.at(-1) as Extract<ModelMessage, { from: 'tools' }>;
  const kinds = last.results.map(({ content }) => content[0]!.type);
  expect(kinds).toEqual([...Array.from({ length: 5 }, () => 'image'), 'text', 'text']);
});

test('a model that calls an unknown tool gets suggestions and may go on', async () => {
  const model = scripted({ calls: [use('fnd')] }, { calls: [use('find')] }, { text: 'Tea.' });
  const { structured, result } = await talk(model);
  expect(result.isError).toBeUndefined();
  expect(structured.calls.map(({ outcome }) => outcome)).toEqual(['unknown tool', 'ok']);
  expect(JSON.stringify(model.requests[1]!.turns.at(-1))).toContain('Did you mean find?');
});

test('a model that does it again is not asked a third time', async () => {
  const model = scripted({ calls: [use('nothing')] }, { calls: [use('nobody'), use('find')] });
  const { result, structured, text } = await talk(model);
  expect(result.isError).toBe(true);
  expect(structured.stopped?.code).toBe('LANGUAGE_UNKNOWN_TOOL');
  expect(text).toContain('Tools called so far:\n- nothing: unknown tool');
  expect(text).toContain('- find: ok');
  expect(model.requests).toHaveLength(2);
});

test.each([
  ['an error', () => Promise.reject(new ServerError('"what" is missing', -32602, undefined))],
  [
    'a result in the words of the official SDK',
    () =>
      Promise.resolve({
        isError: true,
        content: [{ type: 'text', text: 'MCP error -32602: "what" is missing' }],
      }),
  ],
])('arguments that are rejected with %s are told to the model once', async (_how, run) => {
  const model = scripted({ calls: [use('find', { wot: 1 })] });
  const { structured } = await talk(model, { run });
  expect(structured.stopped?.code).toBe('LANGUAGE_ARGUMENTS');
  expect(structured.calls.map(({ outcome }) => outcome)).toEqual(['rejected', 'rejected']);
  expect(JSON.stringify(model.requests[1]!.turns.at(-1))).toContain('is missing');
});

test('arguments that are no object are never run', async () => {
  const malformed = { id: 'x', name: 'find', input: undefined, malformed: 'the JSON ends too early' };
  const model = scripted({ calls: [malformed] }, { text: 'I give up.' });
  const { structured } = await talk(model, { run: () => Promise.reject(new Error('It ran.')) });
  expect(structured.calls).toEqual([
    { tool: 'find', outcome: 'rejected', ms: 0, message: expect.stringContaining('the JSON ends too early') },
  ]);
});

test('tool errors are reported to the model every time', async () => {
  const failing = { isError: true, content: [{ type: 'text', text: 'Out of tea.' }] };
  const model = scripted(...Array<Line>(4).fill({ calls: [use('find')] }), { text: 'There is none.' });
  const { structured, result, told } = await talk(model, { run: () => Promise.resolve(failing) });
  expect(result.isError).toBeUndefined();
  expect(structured.calls).toHaveLength(4);
  expect(structured.calls[0]).toMatchObject({ outcome: 'error', message: 'Out of tea.' });
  expect(told).toContain('find failed; reporting it to the model');
});

test('a server that is gone twice in a row ends the request', async () => {
  const model = scripted({ calls: [use('find')] });
  const run = () =>
    Promise.reject(new SwitchboardError('SERVER_CRASHED', "Server 'shop' ended with code 1."));
  const { structured, text } = await talk(model, { run });
  expect(structured.stopped?.code).toBe('LANGUAGE_SERVER_GONE');
  expect(text).toContain('ended with code 1');
  expect(model.requests).toHaveLength(2);
});

test('a destructive tool runs when the person agrees, and not otherwise', async () => {
  const model = () => scripted({ calls: [use('drop', { table: 'a' })] }, { text: 'That was it.' });
  const answered = async (allow: boolean) => {
    const ran: string[] = [];
    const { structured, text } = await talk(model(), {
      canElicit: true,
      ask: () => Promise.resolve({ action: 'accept', content: { allow } }),
      run: ({ name }) => {
        ran.push(name);
        return Promise.resolve(ok);
      },
    });
    return { ran, outcome: structured.calls[0]!.outcome, text };
  };
  expect(await answered(true)).toEqual({ ran: ['drop'], outcome: 'ok', text: 'That was it.' });
  expect(await answered(false)).toEqual({ ran: [], outcome: 'declined', text: 'That was it.' });
});

test('without elicitation, the answer says how to allow it', async () => {
  const { structured, text, result } = await talk(scripted({ calls: [use('drop')] }, { text: 'I may not.' }));
  expect(structured.calls[0]!.outcome).toBe('not allowed');
  expect(text).toMatch(/^I may not\.\n\nNot run because .*: drop\. .*"allowDestructive": true/s);
  expect(result.isError).toBeUndefined();
});

test('after the last step nothing more is run', async () => {
  const model = scripted({ calls: [use('find')] });
  const { structured, result, text } = await talk(model, limits({ maxSteps: 3 }));
  expect(result.isError).toBe(true);
  expect(structured).toMatchObject({ steps: 3, stopped: { code: 'LANGUAGE_STEPS' } });
  expect(structured.calls).toHaveLength(2);
  expect(text).toContain('"language.maxSteps"');
});

test('a request that costs too much stops before it costs more', async () => {
  const model = scripted({ calls: [use('find')], usage: { input: 3000, output: 100 } });
  const { structured, text } = await talk(model, limits({ maxTokens: 7000 }));
  expect(structured).toMatchObject({ steps: 2, tokens: { input: 6000, output: 200 } });
  // The second call did not run: no tokens were left to report it to the model.
  expect(structured.calls).toHaveLength(1);
  expect(structured.stopped?.code).toBe('LANGUAGE_TOKENS');
  expect(text).toContain('"language.maxTokens"');
});

test('a result too long for what is left is not sent', async () => {
  const model = scripted({ calls: [use('find')] });
  const run = () => Promise.resolve({ content: [{ type: 'text', text: 'word '.repeat(10_000) }] });
  const { structured } = await talk(model, { ...limits({ maxTokens: 5000 }), run });
  expect(structured).toMatchObject({
    steps: 1,
    calls: [{ outcome: 'ok' }],
    stopped: { code: 'LANGUAGE_TOKENS' },
  });
});

test('a request whose tools alone cost too much never reaches the model', async () => {
  const model = scripted({ text: 'x' });
  const { structured } = await talk(model, limits({ maxTokens: 100 }));
  expect(structured).toMatchObject({ steps: 0, stopped: { code: 'LANGUAGE_TOKENS' } });
  expect(model.requests).toEqual([]);
});

test('a request that costs too much for the many tools of its server says so', async () => {
  const many = Array.from({ length: 500 }, (_, at) => offered(`tool_number_${at}`));
  const model = scripted({ calls: [use('tool_number_1')], usage: { input: 9000, output: 10 } });
  const { text, structured } = await talk(model, { ...limits({ maxTokens: 20_000 }), tools: many });
  expect(structured).toMatchObject({ steps: 2, stopped: { code: 'LANGUAGE_TOKENS' } });
  expect(text).toMatch(/Its 500 tools alone add about \d+ tokens .*hiddenTools/);
});

test('tokens are estimated if the provider does not report them', async () => {
  const { structured } = await talk(scripted({ text: 'Tea and more tea.', usage: undefined }));
  expect(structured.tokens).toMatchObject({ estimated: true });
});

test('on a timeout, running calls are stopped and finished ones reported', async () => {
  const model = scripted({ calls: [use('add')] }, { calls: [use('find')] });
  const stopped: boolean[] = [];
  const { structured, result } = await talk(model, {
    ...limits({ timeoutMs: 300 }),
    run: ({ name }, _args, signal) => {
      if (name === 'add') return Promise.resolve(ok);
      // It is asked to stop but does not react.
      signal.addEventListener('abort', () => stopped.push(true));
      return new Promise(() => undefined);
    },
  });
  expect(result.isError).toBe(true);
  expect(structured.stopped?.code).toBe('LANGUAGE_TIMEOUT');
  expect(structured.calls).toMatchObject([
    { tool: 'add', outcome: 'ok' },
    { tool: 'find', outcome: 'error', message: expect.stringContaining('may have taken effect') },
  ]);
  expect(stopped).toEqual([true]);
});

test('a model that never answers is stopped when the time is over', async () => {
  const { structured } = await talk(
    scripted(() => new Promise(() => undefined)),
    limits({ timeoutMs: 100 }),
  );
  expect(structured).toMatchObject({ steps: 1, stopped: { code: 'LANGUAGE_TIMEOUT' } });
});

test('the clock pauses while the server waits for the client', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  let asked: (answered: Promise<unknown>) => void = () => undefined;
  const { text } = await talk(scripted({ calls: [use('find')] }, { text: 'Here.' }), {
    ...limits({ timeoutMs: 1000 }),
    onQuestion: (listener) => (asked = listener),
    run: () => {
      asked(new Promise((resolve) => setTimeout(resolve, 5000)));
      vi.advanceTimersByTime(5000);
      return Promise.resolve(ok);
    },
  });
  expect(text).toBe('Here.');
});

test.each(['model', 'tool'])(
  'a cancelled request stops the %s that runs, and is not answered',
  async (which) => {
    const controller = new AbortController();
    let stopped = false;
    const hang = (signal: AbortSignal): Promise<never> => {
      signal.addEventListener('abort', () => (stopped = true));
      setImmediate(() => controller.abort());
      return new Promise(() => undefined);
    };
    const model = scripted(({ signal }) => (which === 'model' ? hang(signal) : { calls: [use('find')] }));
    const talking = talk(model, { signal: controller.signal, run: (_tool, _args, signal) => hang(signal) });
    await expect(talking).rejects.toMatchObject({ code: 'CANCELLED' });
    expect(stopped).toBe(true);
  },
);

test('a request cancelled before it starts never reaches the model', async () => {
  const model = scripted({ text: 'x' });
  await expect(talk(model, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'CANCELLED' });
  expect(model.requests).toEqual([]);
});

test('calls that were cut off are not run', async () => {
  const model = scripted({ calls: [use('find', { half: 'of it' })], stop: 'length' });
  const { structured, result } = await talk(model);
  expect(result.isError).toBe(true);
  expect(structured).toMatchObject({ calls: [], stopped: { code: 'LANGUAGE_CUT_OFF' } });
});

test('an answer that was cut off is an answer, and shows it', async () => {
  const { text, result } = await talk(scripted({ text: 'Once upon a', stop: 'length' }));
  expect(text).toBe('Once upon a […]');
  expect(result.isError).toBeUndefined();
});

test("a refusal is an error with the model's own words", async () => {
  const { text, result, structured } = await talk(scripted({ text: 'I would rather not.', stop: 'refused' }));
  expect(result.isError).toBe(true);
  expect(structured).toMatchObject({ answer: 'I would rather not.', stopped: { code: 'LANGUAGE_REFUSED' } });
  expect(text).toContain('I would rather not.');
});

test('a model that says nothing after its calls is done; one that did nothing has failed', async () => {
  const done = await talk(scripted({ calls: [use('add'), use('add')] }, {}));
  expect(done.text).toBe('Done. The model ran add and returned no text.');
  const silent = await talk(scripted({}));
  expect(silent.structured.stopped?.code).toBe('LANGUAGE_NO_ANSWER');
});

test('a model that cannot be asked gives a result with its own error', async () => {
  const error = new SwitchboardError('LANGUAGE_KEY_REFUSED', 'The key was refused.', {
    hint: 'Set another.',
  });
  const { text, structured } = await talk(scripted(() => Promise.reject(error)));
  expect(text).toBe('The key was refused. Set another.');
  expect(structured.stopped).toEqual({ code: 'LANGUAGE_KEY_REFUSED', message: text });
});

test('a bug is reported as one, without its message', async () => {
  const { text, logged } = await talk(scripted(() => Promise.reject(new TypeError('quotes a secret'))));
  expect(text).toContain('Switchboard failed');
  expect(text + logged).not.toContain('secret');
});

test('the client hears when the model has to be asked again', async () => {
  const { told } = await talk(
    scripted(({ onRetry }) => {
      onRetry?.('it is overloaded', 2000);
      return { text: 'Now.' };
    }),
  );
  expect(told).toEqual(['Asking small (step 1)', 'Asking small again in 2 s: it is overloaded']);
});

test('the log has every step and call, and none of their contents', async () => {
  const model = scripted({ text: 'psst', calls: [use('find', { psst: 1 }), use('psst')] }, { text: 'psst' });
  const { logged } = await talk(model, {
    query: 'psst',
    context: 'psst',
    instructions: 'psst',
    run: () => Promise.resolve({ isError: true, content: [{ type: 'text', text: 'psst' }] }),
  });
  expect(logged).not.toContain('psst');
  expect(logged).toMatch(
    /language step server=shop model=small step=1 ms=\d+ input=10 output=5 calls=2 stop=calls/,
  );
  expect(logged).toMatch(/language call server=shop tool=find ms=\d+ outcome=error/);
  expect(logged).toMatch(/language step .*step=2 .*calls=0 stop=done/);
});
