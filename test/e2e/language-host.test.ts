/** Servers behind a language model, with the model of the client: official clients that answer sampling with tools. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  builtProgram,
  cleanEnv,
  startLanguageHarness,
  type LanguageHarnessOptions,
} from '../helpers/language-harness.ts';
import {
  samplingClients,
  type ClientTarget,
  type SamplingCallOptions,
  type SamplingClient,
} from '../helpers/sampling-client.ts';
import { createProject, npmServer } from '../helpers/temp-project.ts';
import { Brain, type Thought } from '../models/brain.ts';
import { sample } from '../models/host-model.ts';
import {
  call,
  consentCases,
  languageCases,
  leavingCases,
  recalls,
  remembers,
  tell,
  type Person,
  type ScriptedHarness,
} from './language.cases.ts';

const SAMPLING = { sampling: { tools: {} } };
const ASKABLE = { ...SAMPLING, elicitation: { form: {} } };

function host(options: Pick<LanguageHarnessOptions, 'client' | 'wire' | 'settings' | 'capabilities'>) {
  const brain = new Brain();
  const person: Person = { answer: () => ({}), asked: [] };
  const open = async (): Promise<ScriptedHarness> => ({
    brain,
    harness: await startLanguageHarness({
      ...options,
      answer: (method, params, signal) => {
        if (method === 'sampling/createMessage') return sample(brain, params, signal);
        person.asked.push(params.message);
        return person.answer(signal);
      },
    }),
  });
  let spoken: ScriptedHarness;
  beforeAll(async () => {
    spoken = await open();
  });
  afterAll(() => spoken.harness.close());
  return { get: () => spoken, open, person };
}

const clients = Object.keys(samplingClients) as (keyof typeof samplingClients)[];

describe.each(clients)('with the model of %s', (client) => {
  const { get, open, person } = host({ client, settings: { model: 'host' }, capabilities: ASKABLE });
  const modern = client.endsWith('2026-07-28');
  languageCases(get, { dropsProgress: modern });
  consentCases(get, person);
  // There a question is the client's own affair, between two requests.
  leavingCases(open, { apart: modern });

  test('a person who wants no model to be used is heard', async () => {
    const no = 'User rejected sampling request';
    const said = tell(get(), 'memory', 'use my model', () => ({ status: -1, message: no }));
    if (modern) await expect(said).rejects.toThrow(no);
    else expect((await said).structuredContent.stopped.code).toBe('LANGUAGE_REFUSED');
  });
});

describe.each(['SDK v1', 'SDK v2, 2026-07-28'] as const)('with the model of %s over HTTP', (client) => {
  const { get, person } = host({ client, wire: 'http', settings: {}, capabilities: ASKABLE });
  consentCases(get, person);

  test('which is the default where there is no key, the server remembers and knows', async () => {
    const told = await tell(get(), 'memory', 'remember that my favourite editor is vim', remembers);
    expect(told.structuredContent).toMatchObject({ provider: 'host', answer: 'Kept: user.' });
    const asked = await tell(get(), 'memory', 'what do I like?', recalls);
    expect(asked.content[0].text).toBe('You like the editor vim.');
    expect(get().harness.memory()).toContain('favourite editor: vim');
  });

  test('each of two clients is asked with its own words', async () => {
    const other = new Brain();
    const second = await samplingClients['SDK v2, 2025-11-25']({
      target: get().harness.target,
      capabilities: SAMPLING,
      answer: (_method, params, signal) => sample(other, params, signal),
    });
    onTestFinished(() => second.close());
    const says =
      (who: string): Thought =>
      ({ turn, results }) =>
        turn < 3 ? call('slow_echo', { text: who, ms: 20 }) : results.join();
    const query = 'who am I?';
    other.learn(query, says('the second'));
    const answers = await Promise.all([
      tell(get(), 'slow', query, says('the first')),
      second.call('slow__natural_language', { query }),
    ]);
    expect(answers.map(({ content }) => content[0].text)).toEqual(['the first', 'the second']);
  });
});

describe('a client that can be asked less', () => {
  const forget: Thought = ({ turn, results }) =>
    turn === 0 ? call('delete_entities', { entityNames: ['user'] }) : results[0]!;

  describe('of its person', () => {
    const { get } = host({ client: 'SDK v2, 2025-11-25', settings: {}, capabilities: SAMPLING });

    test('destroys nothing, unless the configuration allows it', async () => {
      await tell(get(), 'memory', 'remember that my favourite editor is vim', remembers);
      const refused = await tell(get(), 'memory', 'forget me', forget);
      expect(refused.structuredContent.calls).toMatchObject([
        { tool: 'delete_entities', outcome: 'not allowed' },
      ]);
      expect(refused.content[0].text).toContain('"allowDestructive": true');
      expect(get().harness.memory()).toContain('vim');
      const allowed = await tell(get(), 'bold', 'forget me', forget);
      expect(allowed.structuredContent.calls).toMatchObject([{ tool: 'delete_entities', outcome: 'ok' }]);
      expect(get().harness.memory()).not.toContain('vim');
    });
  });

  describe.each([
    ['nothing', {}],
    ['no tools', { sampling: {} }],
  ])('of its model: %s', (_, capabilities) => {
    const { get } = host({ client: 'SDK v1', settings: {}, capabilities });

    test('hears that there is no model, and what to do', async () => {
      const result = await tell(get(), 'memory', 'what do I like?', recalls);
      expect(result.isError).toBe(true);
      expect(result.content[0].text).toMatch(/No language model is available.*ANTHROPIC_API_KEY/s);
    });
  });
});

describe('a wrapped server', () => {
  test('is the same by itself and behind the gateway, with the model of the client', async () => {
    const project = createProject();
    const folder = project.path('mcps/memory');
    const file = join(folder, 'memory.jsonl');
    const { command, args } = npmServer('memory');
    project.write('mcps/memory/.mcp.json', {
      name: 'memory',
      command: { cmd: command, args, env: { MEMORY_FILE_PATH: file } },
    });
    const gateway = builtProgram(project.dir);
    await promisify(execFile)(gateway.command, [...gateway.args, 'wrap', 'memory'], {
      cwd: project.dir,
      env: gateway.env,
    });
    const brain = new Brain();
    const connect = async (
      kind: keyof typeof samplingClients,
      place: ClientTarget,
    ): Promise<SamplingClient> => {
      const client = await samplingClients[kind]({
        target: place,
        capabilities: SAMPLING,
        answer: (_method, params, signal) => sample(brain, params, signal),
      });
      onTestFinished(() => client.close());
      return client;
    };

    const wrapped = JSON.parse(project.read('mcps/memory/.mcp.json')).command;
    const env = { ...cleanEnv(project.dir), ...wrapped.env };
    const alone = await connect('SDK v2, 2026-07-28', {
      command: wrapped.cmd,
      args: wrapped.args,
      cwd: folder,
      env,
    });
    expect((await alone.listTools()).map(({ name }) => name)).toEqual(['natural_language']);
    brain.learn('remember that my favourite editor is vim', remembers);
    const told = await alone.call('natural_language', { query: 'remember that my favourite editor is vim' });
    expect(told.structuredContent).toMatchObject({ answer: 'Kept: user.', provider: 'host' });
    expect(project.read('mcps/memory/memory.jsonl')).toContain('favourite editor: vim');
    await alone.close();

    const behind = await connect('SDK v1', gateway);
    expect((await behind.listTools()).map(({ name }) => name)).toEqual(['memory_suite']);
    const ask = (query: string, thought: Thought, options?: SamplingCallOptions): Promise<any> => {
      brain.learn(query, thought);
      const suite = { action: 'call', subtool: 'natural_language', args: { query } };
      return behind.call('memory_suite', suite, options);
    };
    const asked = await ask('what do I like?', recalls);
    expect(asked.content[0].text).toBe('You like the editor vim.');
    const controller = new AbortController();
    const said = ask('think until I say stop', () => ({ instead: 'hang' }), controller);
    const refused = expect(said).rejects.toThrow();
    const { abandoned } = await brain.asked('think until I say stop');
    controller.abort();
    await Promise.all([refused, abandoned]);
  });
});
