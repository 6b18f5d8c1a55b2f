import { expect, test } from 'vitest';
import { KEY, type LanguageHarness, type ServerName } from '../helpers/language-harness.ts';
import type { SamplingCallOptions } from '../helpers/sampling-client.ts';
import { until } from '../helpers/until.ts';
import type { Brain, Heard, Thought } from '../models/brain.ts';
import type { ScriptedSpeech } from '../models/script.ts';

/** A harness with a scripted model. */
export interface ScriptedHarness {
  readonly harness: LanguageHarness;
  readonly brain: Brain;
}

/** What a person answers to a form. */
export interface Person {
  /** The signal aborts when nobody wants to know any more. */
  answer: (signal: AbortSignal) => object | Promise<object>;
  /** What it was asked. */
  readonly asked: string[];
}

/** A word that stands in what is said, in arguments and in results, and so nowhere else. */
const SECRET = 'kestrel';

/** Teaches the model what to say to these words, says them to a server, and gives the result. */
export async function tell(
  { harness, brain }: ScriptedHarness,
  server: ServerName,
  query: string,
  thought: Thought,
  options?: SamplingCallOptions,
): Promise<any> {
  brain.learn(query, thought);
  return harness.say(server, query, options);
}

export const call = (name: string, input: object = {}): ScriptedSpeech => ({ calls: [{ name, input }] });

/** Remembers what the user likes, and says what the server says that it has kept. */
export const remembers: Thought = ({ turn, query, results }) => {
  if (turn > 0) return `Kept: ${entitiesIn(results).join(', ')}.`;
  const [, thing, value] = /my favourite (\w+) is (\w+)/.exec(query)!;
  const observations = [`favourite ${thing}: ${value}`];
  return call('create_entities', { entities: [{ name: 'user', entityType: 'person', observations }] });
};

/** Says what the server knows of the user. */
export const recalls: Thought = ({ turn, results }) => {
  if (turn === 0) return call('search_nodes', { query: 'user' });
  const known = /favourite (\w+): (\w+)/.exec(results[0]!);
  return known ? `You like the ${known[1]} ${known[2]}.` : 'I do not know.';
};

/** Names of what a result of the memory server lists. */
function entitiesIn(results: Heard['results']): string[] {
  const said = JSON.parse(results[0]!);
  return (said.entities ?? said).map(({ name }: any) => name);
}

const stopOf = (result: any): string => {
  expect(result.isError).toBe(true);
  expect(result.content[0].text).toContain(result.structuredContent.stopped.message.split('\n')[0]);
  return result.structuredContent.stopped.code;
};

const outcomes = (result: any): string[] =>
  result.structuredContent.calls.map(({ tool, outcome }: any) => `${tool} ${outcome}`);

/** Stories that end well, and how they end otherwise, whatever the model is and however it is asked. */
export function languageCases(
  get: () => ScriptedHarness,
  /** Whether the SDK of the client drops progress that arrives together with a question. Default false. */
  { dropsProgress = false }: { readonly dropsProgress?: boolean } = {},
): void {
  const say = (
    server: ServerName,
    query: string,
    thought: Thought,
    options?: SamplingCallOptions,
  ): Promise<any> => tell(get(), server, query, thought, options);

  test('the server remembers what it is told, and knows it when it is asked', async () => {
    const { name, outputSchema } = (await get().harness.client.listTools())[0];
    // The client holds what it gets against that.
    expect([name, outputSchema.required]).toEqual([
      'memory__natural_language',
      expect.arrayContaining(['calls']),
    ]);
    const steps: string[] = [];
    const told = await say('memory', 'remember that my favourite editor is vim', remembers, {
      onprogress: ({ message }) => steps.push(message ?? ''),
    });
    expect(told.isError).toBeUndefined();
    expect(told.content).toEqual([{ type: 'text', text: 'Kept: user.' }]);
    expect(get().harness.memory()).toContain('favourite editor: vim');
    const { calls, ...rest } = told.structuredContent;
    expect(rest).toMatchObject({ answer: 'Kept: user.', steps: 2 });
    expect(calls).toMatchObject([{ tool: 'create_entities', outcome: 'ok', ms: expect.any(Number) }]);
    expect(calls[0].arguments.entities[0].observations).toEqual(['favourite editor: vim']);
    const expected = ['Starting memory', 'Asking (step 1)', 'Running create_entities', 'Asking (step 2)'];
    const seen = steps
      // The client of 2026-07-28 tells of its own part as well.
      .filter((step) => !step.startsWith('Fulfilling input'))
      .map((step) => step.replace(/^Asking .+ \(/, 'Asking ('));
    expect(seen).toEqual(
      dropsProgress ? expected.filter((step) => !step.startsWith('Asking') || seen.includes(step)) : expected,
    );
    const { heard } = await get().brain.asked('remember that my favourite editor is vim');
    expect(heard.tools).toEqual(expect.arrayContaining(['create_entities', 'delete_entities']));
    expect(heard.system).toContain('MCP server "memory"');
    const asked = await say('memory', 'what do I like?', recalls);
    expect(asked.content[0].text).toBe('You like the editor vim.');
  });

  test('a step builds on the one before', async () => {
    const person = (name: string) => ({ name, entityType: 'person', observations: [SECRET] });
    const result = await say('memory', 'note that Ada works with Grace', ({ turn, results }) => {
      if (turn === 0) return { text: 'Let me see who is known.', ...call('search_nodes', { query: 'Ada' }) };
      if (turn === 1) {
        const known = entitiesIn(results);
        const missing = ['Ada', 'Grace'].filter((name) => !known.includes(name));
        return call('create_entities', { entities: missing.map(person) });
      }
      const names = turn === 2 ? entitiesIn(results) : [];
      const [from, to] = names;
      if (turn === 2)
        return call('create_relations', { relations: [{ from, to, relationType: 'works with' }] });
      if (turn === 3) return call('open_nodes', { names: ['Ada', 'Grace'] });
      const [relation] = JSON.parse(results[0]!).relations;
      return `${relation.from} ${relation.relationType} ${relation.to}.`;
    });
    expect(result.content[0].text).toBe('Ada works with Grace.');
    expect(outcomes(result)).toEqual([
      'search_nodes ok',
      'create_entities ok',
      'create_relations ok',
      'open_nodes ok',
    ]);
    expect(get().harness.memory()).toContain('"relationType":"works with"');
  });

  test('tools that are called together run together, and their results come in order', async () => {
    const result = await say('slow', 'how much are you doing?', ({ turn, results }) =>
      turn === 0
        ? { calls: [{ name: 'late', input: { ms: 150 } }, { name: 'running_count' }] }
        : results.join(' / '),
    );
    expect(result.content[0].text).toBe('late by 150 ms / 1');
    expect(outcomes(result)).toEqual(['late ok', 'running_count ok']);
  });

  test('a refusal is told', async () => {
    const result = await say('memory', 'do something bad', () => ({ text: 'I will not.', stop: 'refused' }));
    expect(stopOf(result)).toBe('LANGUAGE_REFUSED');
    expect(result.content[0].text).toContain('I will not.');
  });

  test('the model hears once that there is no such tool', async () => {
    const learned = await say('memory', 'use the right tool', ({ turn, results }) => {
      if (turn === 0) return call('read_grahp');
      if (turn > 1) return `Found ${entitiesIn(results).length} at last.`;
      return call(/Did you mean (\w+)/.exec(results[0]!)![1]!);
    });
    expect(learned.content[0].text).toMatch(/^Found \d+ at last\.$/);
    expect(outcomes(learned)).toEqual(['read_grahp unknown tool', 'read_graph ok']);
    const never = await say('memory', 'use any tool', () => call('dance'));
    expect(stopOf(never)).toBe('LANGUAGE_UNKNOWN_TOOL');
    expect(outcomes(never)).toEqual(['dance unknown tool', 'dance unknown tool']);
  });

  test('the model hears once why its arguments are rejected', async () => {
    const learned = await say('memory', 'find it in the second try', ({ turn, results }) => {
      if (turn === 0) return call('search_nodes', { words: SECRET });
      if (turn > 1) return `Found ${entitiesIn(results).length}.`;
      return call('search_nodes', { [/\bquery\b/.exec(results[0]!)![0]]: SECRET });
    });
    expect(learned.content[0].text).toMatch(/^Found \d\.$/);
    expect(outcomes(learned)).toEqual(['search_nodes rejected', 'search_nodes ok']);
    const never = await say('memory', 'never find it', () => call('search_nodes', { words: SECRET }));
    expect(stopOf(never)).toBe('LANGUAGE_ARGUMENTS');
    expect(outcomes(never)).toEqual(['search_nodes rejected', 'search_nodes rejected']);
  });

  test('steps and tokens have an end, and what was done is told', async () => {
    const echo: Thought = () => call('echo', { text: SECRET });
    const long = await say('brief', 'go on and on', echo);
    expect(stopOf(long)).toBe('LANGUAGE_STEPS');
    expect(outcomes(long)).toEqual(['echo ok']);
    expect(long.structuredContent.steps).toBe(2);
    const dear = await say('cheap', 'read a library', () => call('big', { bytes: 60_000 }));
    expect(stopOf(dear)).toBe('LANGUAGE_TOKENS');
    expect(outcomes(dear)).toEqual(['big ok']);
  });

  test('time has an end for a tool that never answers', async () => {
    const result = await say('hasty', 'wait for it', () => call('hang'));
    expect(stopOf(result)).toBe('LANGUAGE_TIMEOUT');
    expect(outcomes(result)).toEqual(['hang error']);
    const count: Thought = ({ turn, results }) =>
      turn === 0 ? call('cancelled_count') : `Told ${results[0]!} times.`;
    // Where the machine is busy, this takes too long as well.
    const answer = async (): Promise<any> => (await say('hasty', 'were you told?', count)).content[0].text;
    await until(async () => /^Told [1-9]/.test(await answer()), { what: 'the tool to be stopped' });
  });

  test('a picture comes through', async () => {
    const result = await say('pictures', 'show me a picture', ({ turn, results }) =>
      turn === 0 ? call('get-tiny-image') : `Said: ${results[0]!.split('\n')[0]!}`,
    );
    expect(result.content[0].text).toMatch(/^Said: \S+/);
    const image = result.content.find(({ type }: any) => type === 'image');
    expect(image).toMatchObject({ mimeType: 'image/png', data: expect.stringMatching(/^iVBORw0KGgo/) });
  });

  test('who cancels stops the model', async () => {
    const controller = new AbortController();
    const query = 'think until I say stop';
    const said = say('memory', query, () => ({ text: 'I think', midway: 'hang' }), controller);
    const refused = expect(said).rejects.toThrow();
    const { abandoned } = await get().brain.asked(query);
    controller.abort();
    await refused;
    await abandoned;
  });

  test('who cancels stops the tool', async () => {
    const controller = new AbortController();
    const read = async (name: string): Promise<any> => {
      const asks: Thought = ({ turn, results }) => (turn === 0 ? call(name) : results[0]!);
      return (await say('slow', `tell me ${name}`, asks)).content[0].text;
    };
    const before = Number(await read('cancelled_count'));
    const long = () => call('slow_echo', { text: SECRET, ms: 60_000 });
    const said = say('slow', 'wait for ever', long, controller);
    const refused = expect(said).rejects.toThrow();
    await until(async () => (await read('running_count')) === '1', { what: 'the tool to run' });
    controller.abort();
    await refused;
    await until(async () => (await read('running_count')) === '0', { what: 'the tool to be stopped' });
    expect(Number(await read('cancelled_count'))).toBe(before + 1);
  });

  test('the log tells the steps, and nothing of what was said', async () => {
    const { harness } = get();
    const query = `is ${SECRET} the word?`;
    await say('brief', query, ({ turn, results }) =>
      turn === 0 ? call('echo', { text: SECRET }) : `It said ${results[0]!}.`,
    );
    const lines = (what: string): string[] =>
      harness
        .log()
        .split('\n')
        .filter((line) => line.includes(what) && line.includes('brief'));
    await until(() => lines('stop=done').length > 0, { what: 'the log', seen: harness.log });
    expect(lines('language step').at(-1)).toMatch(/model=\S+ step=2 ms=\d+ input=\d+ output=\d+ calls=0/);
    expect(lines('language call').at(-1)).toMatch(/tool=echo ms=\d+ outcome=ok/);
    expect(harness.log()).not.toMatch(new RegExp(`${SECRET}|vim|Grace|dance|${KEY}`));
  });
}

/**
 * The client goes away while a model talks. `open` starts a harness of its own. `apart`: what the model is asked by is a
 * part of the client, and goes on without the connection.
 */
export function leavingCases(open: () => Promise<ScriptedHarness>, { apart = false } = {}): void {
  test('nothing is left when the client leaves in the middle', async () => {
    const spoken = await open();
    const { harness, brain } = spoken;
    const query = 'talk to me while I go';
    const said = tell(spoken, 'memory', query, ({ turn }) =>
      turn === 0 ? call('read_graph') : { text: 'Once upon', midway: 'hang' },
    );
    // It may still hear that it is over.
    const settled = Promise.allSettled([said]);
    const { abandoned } = await brain.asked(query, 1);
    await harness.close();
    if (!apart) await Promise.all([settled, abandoned]);
  });
}

/** A tool that may destroy something, before a person who can be asked. */
export function consentCases(get: () => ScriptedHarness, person: Person): void {
  test('what may destroy something runs only when the person agrees', async () => {
    const { harness } = get();
    const forget: Thought = ({ turn, query, results }) =>
      turn === 0 ? call('delete_entities', { entityNames: [query.split(' ').at(-1)] }) : results[0]!;
    await tell(get(), 'memory', 'keep the falcon', ({ turn }) => {
      const entities = [{ name: 'falcon', entityType: 'bird', observations: [] }];
      return turn === 0 ? call('create_entities', { entities }) : 'Kept.';
    });
    const no = [{ action: 'decline' }, { action: 'cancel' }, { action: 'accept', content: { allow: false } }];
    for (const answer of no) {
      person.answer = () => answer;
      const refused = await tell(get(), 'memory', 'forget the falcon', forget);
      expect(refused.content[0].text).toContain('The user did not allow it.');
      expect(outcomes(refused)).toEqual(['delete_entities declined']);
      expect(harness.memory()).toContain('falcon');
    }
    expect(person.asked).toHaveLength(3);
    expect(person.asked[0]).toMatch(/^Allow 'delete_entities' of server 'memory' to run\?.*falcon/);
    person.answer = () => ({ action: 'accept', content: { allow: true } });
    const done = await tell(get(), 'memory', 'forget the falcon', forget);
    expect(done.content[0].text).toContain('deleted successfully');
    expect(harness.memory()).not.toContain('falcon');
  });
  test('a question is taken back when the call is cancelled', async () => {
    const controller = new AbortController();
    let takenBack = false;
    person.answer = async (signal) => {
      controller.abort();
      await until(() => signal.aborted, { what: 'the question to be taken back' });
      takenBack = true;
      return { action: 'cancel' };
    };
    const remove = () => call('delete_entities', { entityNames: ['Ada'] });
    await expect(tell(get(), 'memory', 'forget Ada', remove, controller)).rejects.toThrow();
    await until(() => takenBack, { what: 'the question to be taken back' });
  });
}
