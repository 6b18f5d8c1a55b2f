/**
 * Old and new protocol in every combination: an official client of each era, over each wire, before a gateway over
 * official servers of each era, over each wire; and everything that the two ends may have to say to each other.
 */
import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  ALL_CAPABILITIES,
  CHILDREN,
  LOG_LEVEL,
  MODERN,
  startEraHarness,
  usualAnswer,
  type ChildName,
  type Era,
  type EraCallOptions,
  type EraQuestion,
  type EraHarness,
  type Wire,
} from '../helpers/eras.ts';
import { until } from '../helpers/until.ts';

/** One client before one child. */
interface Pair {
  readonly harness: EraHarness;
  readonly client: Era;
  readonly clientWire: Wire;
  readonly child: ChildName;
  readonly childEra: Era;
  readonly call: (tool: string, args?: object, options?: EraCallOptions) => Promise<string>;
  /** Asks these kinds of questions in a call; gives the answers by round, and what the client was asked. */
  readonly ask: (
    kinds: readonly string[],
    rounds?: number,
  ) => Promise<{ answers: any[]; asked: EraQuestion[] }>;
}

interface Case {
  readonly title: string;
  readonly run: (pair: Pair) => Promise<void>;
  /** Why there is nothing to try for a pair; undefined where there is. */
  readonly without?: (client: Era, child: Era) => string | undefined;
}

/** What is told of changes, where the client has asked for it as its era does. */
async function listening(
  { harness, client }: Pair,
  uris: readonly string[],
  work: () => Promise<void>,
): Promise<void> {
  if (client === 'legacy') {
    for (const uri of uris) await harness.client.subscribeResource({ uri });
    await work();
    for (const uri of uris) await harness.client.unsubscribeResource({ uri });
    return;
  }
  const lists = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
  const subscription = await harness.client.listen(
    uris.length > 0 ? { resourceSubscriptions: [...uris] } : lists,
  );
  await work();
  await subscription.close();
}

const heardOf = (harness: EraHarness, method: string): any[] =>
  harness.heard.filter((each) => each.method === method).map(({ params }) => params);

const CASES: readonly Case[] = [
  {
    title: 'each end speaks its own era, and the child knows what the client can do',
    run: async ({ call, childEra }) => {
      const about = JSON.parse(await call('about'));
      expect(about).toMatchObject({ era: childEra, capabilities: ALL_CAPABILITIES });
      if (childEra === 'modern') expect(about.version).toBe(MODERN);
      else expect(about.version).not.toBe(MODERN);
    },
  },
  {
    title: 'a form is asked',
    run: async ({ ask, child }) => {
      const { answers, asked } = await ask(['form']);
      expect(asked).toHaveLength(1);
      expect(asked[0]).toMatchObject({
        method: 'elicitation/create',
        params: {
          message: `${child} asks: which colour?`,
          requestedSchema: { type: 'object', properties: { answer: { type: 'string' } } },
        },
      });
      expect(answers).toEqual([{ form: { action: 'accept', content: { answer: 'green' } } }]);
    },
  },
  {
    title: 'a form is declined, and another one dismissed',
    run: async ({ ask, harness }) => {
      for (const action of ['decline', 'cancel']) {
        harness.answer = () => ({ action });
        expect((await ask(['form'])).answers).toEqual([{ form: { action } }]);
      }
    },
  },
  {
    // The modern era has no elicitationId, and nothing that tells of the end of what happens at the address.
    title: 'an address is to be opened',
    run: async ({ ask, child, client }) => {
      const { answers, asked } = await ask(['url']);
      expect(asked).toHaveLength(1);
      const { params } = asked[0]!;
      expect(params).toMatchObject({
        mode: 'url',
        message: `${child} asks: open this?`,
        url: 'https://example.org/open',
      });
      // The older era cannot do without one.
      if (client === 'legacy') expect(params.elicitationId).toMatch(/./);
      expect(answers).toEqual([{ url: { action: 'accept' } }]);
    },
  },
  {
    title: 'a model is asked',
    run: async ({ ask, child }) => {
      const { answers, asked } = await ask(['model']);
      expect(asked).toHaveLength(1);
      expect(asked[0]).toMatchObject({
        method: 'sampling/createMessage',
        params: {
          messages: [{ role: 'user', content: { type: 'text', text: `${child} asks: well?` } }],
          maxTokens: 16,
        },
      });
      expect(answers).toEqual([
        { model: { role: 'assistant', model: 'm', content: { type: 'text', text: 'very well' } } },
      ]);
    },
  },
  {
    title: 'the roots are asked for',
    run: async ({ ask }) => {
      const { answers, asked } = await ask(['roots']);
      expect(asked.map(({ method }) => method)).toEqual(['roots/list']);
      expect(answers).toEqual([{ roots: { roots: [{ uri: 'file:///ground', name: 'ground' }] } }]);
    },
  },
  {
    title: 'several questions at once, in several rounds',
    run: async ({ ask }) => {
      const { answers, asked } = await ask(['form', 'url', 'model', 'roots'], 3);
      expect(asked).toHaveLength(12);
      expect(answers).toHaveLength(3);
      for (const round of answers)
        expect(round).toMatchObject({
          form: { content: { answer: 'green' } },
          url: { action: 'accept' },
          model: { content: { text: 'very well' } },
          roots: { roots: [{ name: 'ground' }] },
        });
    },
  },
  {
    title: 'progress is reported',
    run: async ({ call }) => {
      const tag = randomUUID();
      const reports: object[] = [];
      const running = call('report', { tag }, { onprogress: (report) => reports.push(report) });
      await until(() => reports.length >= 2, { what: 'two reports' });
      await until(async () => (await call('release', { tag })) === 'released', { what: 'the release' });
      expect(await running).toBe('reported');
      // The third may come together with the answer, where this client drops it.
      expect(reports.slice(0, 2)).toEqual([
        { progress: 1, total: 3, message: 'step 1' },
        { progress: 2, total: 3, message: 'step 2' },
      ]);
    },
  },
  {
    title: 'a call is cancelled',
    run: async ({ call, harness }) => {
      const tag = randomUUID();
      const giving = new AbortController();
      const running = call('wait', { tag }, { signal: giving.signal }).catch((error: unknown) => error);
      await until(() => harness.journal().includes(`waiting ${tag}`), { what: 'the call to arrive' });
      giving.abort(new Error('no longer wanted'));
      expect(await running).toBeInstanceOf(Error);
      await until(() => harness.journal().includes(`aborted ${tag}`), { what: 'the child to hear of it' });
      expect(JSON.parse(await call('about'))).toBeTypeOf('object');
    },
  },
  {
    title: 'a line is logged, at the level that was asked for',
    run: async ({ call, harness, client, child }) => {
      const said = randomUUID();
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- the older era has nothing else
      if (client === 'legacy') await harness.client.setLoggingLevel('info');
      const _meta = { [LOG_LEVEL]: 'info' };
      await call('log', { text: said }, client === 'legacy' ? {} : { _meta });
      const lines = (): any[] =>
        heardOf(harness, 'notifications/message').filter(({ data }) => data === said);
      await until(() => lines().length > 0, { what: 'the line' });
      expect(lines()).toEqual([{ level: 'info', logger: child, data: said }]);
      if (client === 'legacy') return;
      // Who does not say how much it wants to hear, hears nothing.
      const unwanted = randomUUID();
      await call('log', { text: unwanted });
      await call('log', { text: said }, { _meta });
      await until(() => lines().length > 1, { what: 'the next line' });
      expect(JSON.stringify(harness.heard)).not.toContain(unwanted);
    },
  },
  {
    title: 'lists change',
    run: async (pair) => {
      const { harness, child, call } = pair;
      const name = `grown_${randomUUID().slice(0, 8)}`;
      await listening(pair, [], async () => {
        const before = harness.heard.length;
        await call('grow', { name });
        for (const kind of ['tools', 'prompts', 'resources'])
          await until(
            () =>
              harness.heard
                .slice(before)
                .some(({ method }) => method === `notifications/${kind}/list_changed`),
            { what: `word of other ${kind}` },
          );
      });
      const { tools } = await harness.client.listTools(undefined, { cacheMode: 'refresh' });
      expect(tools.map((tool) => tool.name)).toContain(`${child}__${name}`);
      const { prompts } = await harness.client.listPrompts(undefined, { cacheMode: 'refresh' });
      expect(prompts.map((prompt) => prompt.name)).toContain(`${child}__${name}`);
      const { resources } = await harness.client.listResources(undefined, { cacheMode: 'refresh' });
      expect(resources.map(({ uri }) => uri)).toContain(`mem://${child}/${name}`);
      expect(await call(name)).toBe(name);
    },
  },
  {
    title: 'a resource is updated',
    run: async (pair) => {
      const { harness, child, call } = pair;
      const [one, two] = [`mem://${child}/one`, `mem://${child}/two`];
      const updated = (): string[] =>
        heardOf(harness, 'notifications/resources/updated').map(({ uri }) => uri);
      const before = updated().length;
      await listening(pair, [one], async () => {
        await call('touch', { uri: two });
        await call('touch', { uri: one });
        await until(() => updated().length > before, { what: 'word of the resource' });
      });
      expect(updated().slice(before)).toEqual([one]);
    },
  },
  {
    // The last, for what it leaves behind: between two turns a modern client has nothing that it could cancel, so its call
    // stays with a server of the older era until its time is over. Over HTTP the next may be somebody else's, and what
    // that server asks meanwhile may be about either of them.
    title: 'a call is given up while its question is open',
    run: async ({ call, ask, harness, client, clientWire, childEra }) => {
      const giving = new AbortController();
      let withdrawn = false;
      harness.answer = async ({ signal }) => {
        giving.abort(new Error('no longer wanted'));
        await until(() => signal.aborted, { what: 'the question to be withdrawn' });
        withdrawn = true;
        return { action: 'cancel' };
      };
      const running = call('ask', { kinds: ['form'] }, { signal: giving.signal }).catch(
        (error: unknown) => error,
      );
      expect(await running).toBeInstanceOf(Error);
      await until(() => withdrawn, { what: 'the question to be withdrawn' });
      harness.answer = undefined;
      const { answers } = await ask(['form']);
      const stays = client === 'modern' && clientWire === 'http' && childEra === 'legacy';
      expect(answers).toEqual([
        { form: stays ? { error: -32000 } : usualAnswer({ method: '', params: {} }) },
      ]);
    },
  },
];

const CLIENTS: readonly { readonly era: Era; readonly wire: Wire }[] = [
  { era: 'legacy', wire: 'stdio' },
  { era: 'legacy', wire: 'http' },
  { era: 'modern', wire: 'stdio' },
  { era: 'modern', wire: 'http' },
];

for (const { era, wire } of CLIENTS)
  describe(`a ${era} client over ${wire}`, () => {
    let harness: EraHarness;
    beforeAll(async () => {
      harness = await startEraHarness(era, wire);
      return () => harness.close();
    });

    for (const { name, era: childEra, wire: childWire } of CHILDREN)
      describe(`and a ${childEra} child over ${childWire}`, () => {
        const pair: Pair = {
          get harness() {
            return harness;
          },
          client: era,
          clientWire: wire,
          child: name,
          childEra,
          call: (...asked) => harness.call(name, ...asked),
          ask: async (kinds, rounds = 1) => {
            const before = harness.questions.length;
            const answers = JSON.parse(await harness.call(name, 'ask', { kinds, rounds })) as any[];
            return { answers, asked: harness.questions.slice(before) };
          },
        };
        for (const { title, run, without } of CASES) {
          const reason = without?.(era, childEra);
          if (reason !== undefined) test.skip(`${title}: ${reason}`);
          else
            test(title, async () => {
              harness.answer = undefined;
              await run(pair);
            });
        }
      });
  });
