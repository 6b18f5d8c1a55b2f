/**
 * The way back: what a server asks its client, and what a client tells its servers, through the gateway. Two servers ask
 * at once, with the same ids and tokens, and nothing may go to the wrong one.
 */
import { describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../helpers/gateway.ts';
import { alive } from '../helpers/processes.ts';
import { textOf, type RpcMessage } from '../helpers/raw-client.ts';
import { sdkClients, type Question } from '../helpers/sdk-client.ts';
import { createProject, nodeServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const SERVERS = ['left', 'right'];
const KINDS = ['ask_form', 'ask_url', 'ask_model', 'ask_roots'] as const;
const FLAT = { exposure: 'flat', naming: 'prefixed' };
const EVERYTHING = { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } };

const twoServers = () =>
  Object.fromEntries(SERVERS.map((name) => [name, nodeServer('asking', `--name=${name}`)]));

const startTwo = (capabilities: object = EVERYTHING): Promise<TestGateway> =>
  startGateway(twoServers(), { config: FLAT, capabilities, version: '2025-11-25' });

const parsedText = async (answer: Promise<RpcMessage>): Promise<any> => JSON.parse(textOf(await answer));

/** Who asks: "left:7". */
function askerOf({ method, params }: Pick<Question, 'method' | 'params'>): string {
  const text: string =
    method === 'roots/list'
      ? `${params?._meta?.['example.org/asker']} `
      : method === 'elicitation/create'
        ? params.message
        : params.messages[0].content.text;
  return text.split(' ')[0]!;
}

/** An answer to the question that names who asked it. */
function answerTo(question: Pick<Question, 'method' | 'params'>): object {
  const asker = askerOf(question);
  if (question.method === 'roots/list') return { roots: [{ uri: `file:///${asker}`, name: asker }] };
  if (question.method === 'sampling/createMessage') {
    return { role: 'assistant', model: 'm', content: { type: 'text', text: `to ${asker}` } };
  }
  return question.params.mode === 'url'
    ? { action: 'accept', _meta: { 'example.org/to': asker } }
    : { action: 'accept', content: { answer: `to ${asker}` } };
}

/** Everything that the answer to a call says about whom it was for. */
function receiverOf(kind: (typeof KINDS)[number], { result }: any): string {
  switch (kind) {
    case 'ask_form':
      return result.content.answer.slice(3);
    case 'ask_url':
      return result._meta['example.org/to'];
    case 'ask_model':
      return result.content.text.slice(3);
    case 'ask_roots':
      return result.roots[0].uri.slice(8);
  }
}

describe.each(Object.entries(sdkClients))('%s', (_name, start) => {
  const project = () => createProject({ 'switchboard.config.json': { ...FLAT, mcpServers: twoServers() } });

  test('answers many questions of two servers at once, and none is crossed', async () => {
    const perKind = 6;
    const together = SERVERS.length * KINDS.length * perKind;
    const orders: ((a: number, b: number) => number)[] = [
      (a, b) => a - b,
      (a, b) => b - a,
      (a, b) => ((a * 7) % together) - ((b * 7) % together),
      (a, b) => (a % 2) - (b % 2) || b - a,
    ];
    let waiting: (() => void)[] = [];
    let wave = 0;
    const client = await start({
      cwd: project().dir,
      // Nobody is answered before all have asked, and then in another order than they asked in.
      answer: async (question) => {
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          if (waiting.length < together) return;
          const all = waiting;
          waiting = [];
          const order = all.map((_, index) => index).sort(orders[wave]);
          for (const index of order) all[index]!();
        });
        return answerTo(question);
      },
    });
    const tools = await client.listTools();
    for (const server of SERVERS) expect(tools).toContain(`${server}__ask_form`);
    for (; wave < orders.length; wave++) {
      const calls = Array.from({ length: perKind }, (_, n) =>
        KINDS.flatMap((kind) => SERVERS.map((server) => ({ server, kind, tag: `${wave}-${n}-${kind}` }))),
      ).flat();
      const answers = await Promise.all(
        calls.map(async ({ server, kind, tag }) =>
          receiverOf(kind, JSON.parse(await client.call(`${server}__${kind}`, { tag }))),
        ),
      );
      expect(answers).toEqual(calls.map(({ server, tag }) => `${server}:${tag}`));
    }
    await client.close();
  });

  test('many questions of one call are each answered for themselves', async () => {
    const client = await start({ cwd: project().dir, answer: answerTo });
    const answers = await Promise.all(
      SERVERS.map(async (server) =>
        JSON.parse(await client.call(`${server}__ask_many`, { tag: 'm', n: 20 })),
      ),
    );
    for (const [index, server] of SERVERS.entries()) {
      expect(answers[index].map((one: any) => one.result.content.answer)).toEqual(
        Array.from({ length: 20 }, (_, n) => `to ${server}:m-${n + 1}`),
      );
    }
  });

  test('a question that its server withdraws is withdrawn here too, and the other server is still heard', async () => {
    const withdrawn: string[] = [];
    const client = await start({
      cwd: project().dir,
      answer: async (question) => {
        const asker = askerOf(question);
        if (asker !== 'left:gone') return answerTo(question);
        await new Promise<void>((resolve) => {
          if (question.signal.aborted) resolve();
          question.signal.addEventListener('abort', () => resolve());
        });
        withdrawn.push(asker);
        return { action: 'cancel' };
      },
    });
    expect(await client.call('left__ask_then_cancel', { tag: 'gone' })).toBe('withdrawn');
    await until(() => withdrawn.includes('left:gone'), { what: 'the question to be withdrawn' });
    const other = JSON.parse(await client.call('right__ask_form', { tag: 'here' }));
    expect(other.result.content.answer).toBe('to right:here');
  });

  test('a call that the client gives up is given up by the server, and so is its question', async () => {
    const asked = new AbortController();
    const aborted: string[] = [];
    const client = await start({
      cwd: project().dir,
      answer: async (question) => {
        const asker = askerOf(question);
        if (asker !== 'left:unwanted') return answerTo(question);
        question.signal.addEventListener('abort', () => aborted.push(asker));
        asked.abort(new Error('no longer wanted'));
        await until(() => aborted.length > 0, { what: 'the question to be withdrawn' });
        return { action: 'cancel' };
      },
    });
    await expect(client.call('left__ask_form', { tag: 'unwanted' }, asked.signal)).rejects.toThrow();
    await until(() => aborted.length > 0, { what: 'the question to be withdrawn' });
    const cancellations = JSON.parse(await client.call('left__cancellations'));
    expect(cancellations).toMatchObject([
      { known: true, reason: expect.stringContaining('no longer wanted') },
    ]);
    expect(JSON.parse(await client.call('right__cancellations'))).toEqual([]);
  });

  test('a question nobody knows is refused with −32601', async () => {
    const client = await start({ cwd: project().dir, answer: answerTo });
    const { error } = JSON.parse(await client.call('right__ask_unknown', { tag: 'x' }));
    expect(error.code).toBe(-32601);
  });

  test('a change of the roots reaches both servers', async () => {
    const client = await start({ cwd: project().dir, answer: answerTo });
    // Only a server that runs has roots to ask for again.
    for (const server of SERVERS) await client.call(`${server}__received`);
    await client.rootsChanged();
    for (const server of SERVERS) {
      await until(
        async () =>
          JSON.parse(await client.call(`${server}__received`)).includes('notifications/roots/list_changed'),
        { what: `${server} to hear of the roots` },
      );
    }
  });
});

describe('what the client did not say that it can do', () => {
  test.each([
    ['nothing', {}, { ask_form: -32601, ask_url: -32601, ask_model: -32601, ask_roots: -32601 }],
    ['elicitation', { elicitation: {} }, { ask_url: -32602, ask_model: -32601, ask_roots: -32601 }],
    ['forms', { elicitation: { form: {} } }, { ask_url: -32602, ask_model: -32601, ask_roots: -32601 }],
    ['sampling', { sampling: {} }, { ask_form: -32601, ask_url: -32601, ask_roots: -32601 }],
    ['roots', { roots: {} }, { ask_form: -32601, ask_url: -32601, ask_model: -32601 }],
    ['everything', EVERYTHING, {}],
  ] as [string, object, Record<string, number>][])(
    'a client that can do %s is asked nothing else, and the server is told why',
    async (_what, capabilities, refused) => {
      const { client } = await startTwo(capabilities);
      for (const method of ['elicitation/create', 'sampling/createMessage', 'roots/list'] as const) {
        client.handle(method, (params) => ({ result: answerTo({ method, params }) }));
      }
      let answered = 0;
      for (const kind of KINDS) {
        for (const server of SERVERS) {
          const answer = await parsedText(client.call(`${server}__${kind}`, { tag: kind }));
          const code = refused[kind];
          if (code === undefined) {
            expect(receiverOf(kind, answer)).toBe(`${server}:${kind}`);
            answered++;
          } else {
            expect(answer.error?.code, `${kind} of ${server}`).toBe(code);
            expect(answer.error.message).toMatch(/\w/);
          }
        }
      }
      expect(client.requests).toHaveLength(answered);
    },
  );

  test('a server is told the very capabilities of the client', async () => {
    const capabilities = { ...EVERYTHING, experimental: { x: { y: [1, null] } }, telepathy: { range: 3 } };
    const { client } = await startTwo(capabilities);
    for (const server of SERVERS) {
      expect(await parsedText(client.call(`${server}__capabilities`))).toEqual(capabilities);
    }
  });

  test('ping is answered on each side without the other', async () => {
    const { client } = await startTwo({});
    expect((await client.request('ping')).result).toEqual({});
    for (const server of SERVERS) {
      expect(await parsedText(client.call(`${server}__ask_ping`, { tag: 'p' }))).toEqual({ result: {} });
      expect(await parsedText(client.call(`${server}__received`))).not.toContain('ping');
    }
    expect(client.requests).toEqual([]);
  });
});

describe('what the client tells its servers', () => {
  test('a change of the roots reaches every running server, once', async () => {
    const { client } = await startTwo();
    const heard = async (server: string): Promise<number> =>
      (await parsedText(client.call(`${server}__received`))).filter(
        (method: string) => method === 'notifications/roots/list_changed',
      ).length;
    for (const server of SERVERS) expect(await heard(server)).toBe(0);
    client.notify('notifications/roots/list_changed');
    for (const server of SERVERS) {
      await until(async () => (await heard(server)) === 1, { what: `${server} to hear of the roots` });
    }
  });

  test('the log level reaches every server, also one that starts later, and their messages come through', async () => {
    const { client, call } = await startGateway(
      { ...twoServers(), later: { ...nodeServer('asking', '--name=later'), exposure: 'suite' } },
      { config: FLAT, capabilities: {} },
    );
    // Both are running: the level is set while they are.
    for (const server of SERVERS) expect(await parsedText(client.call(`${server}__level`))).toBe(null);
    expect((await client.request('logging/setLevel', { level: 'error' })).result).toEqual({});
    for (const server of SERVERS) {
      await until(async () => (await parsedText(client.call(`${server}__level`))) === 'error', {
        what: `${server} to hear of the level`,
      });
    }
    await until(async () => (await parsedText(call('later', 'level'))) === 'error', {
      what: 'the server that started later to hear of the level',
    });
    await client.request('logging/setLevel', { level: 'debug' });
    await until(async () => (await parsedText(call('later', 'level'))) === 'debug', {
      what: 'all servers to hear of the next level',
    });
    await Promise.all(
      SERVERS.map((server) => client.call(`${server}__log`, { level: 'warning', tag: 'a message' })),
    );
    for (const server of SERVERS) {
      const { params } = await client.waitFor(
        ({ method, params }) => method === 'notifications/message' && params.logger === server,
      );
      expect(params).toEqual({ level: 'warning', logger: server, data: `${server}:a message` });
    }
  });
});

describe('questions that come to nothing', () => {
  test('a cancelled call takes its question with it', async () => {
    const { client } = await startTwo();
    client.handle('elicitation/create', () => undefined);
    const call = client.call('left__ask_form', { tag: 'unwanted' }, { id: 'call-1' });
    const question = await client.waitFor(({ method }) => method === 'elicitation/create');
    client.notify('notifications/cancelled', { requestId: 'call-1', reason: 'no longer wanted' });
    const { params } = await client.waitFor(({ method }) => method === 'notifications/cancelled');
    expect(params.requestId).toBe(question.id);
    expect(await parsedText(client.call('left__cancellations'))).toMatchObject([
      { known: true, reason: 'no longer wanted' },
    ]);
    // An answer that comes too late does no harm.
    client.reply(question, { result: { action: 'cancel' } });
    expect(textOf(await client.call('left__canary', { n: 1 }))).toBe('canary 1');
    expect(client.ledger.unanswered().map(({ id }) => id)).toEqual(['call-1']);
    void call;
  });

  test('a server that dies with a question open: the question is withdrawn, the call fails, the other goes on', async () => {
    const { client } = await startTwo();
    client.handle('elicitation/create', () => undefined);
    const pid = Number(textOf(await client.call('left__pid')));
    const dying = client.call('left__ask_form', { tag: 'dying' });
    const living = client.call('right__ask_form', { tag: 'living' });
    const asks = (asker: string) =>
      client.waitFor(
        ({ method, params }) => method === 'elicitation/create' && askerOf({ method, params }) === asker,
      );
    const [open, other] = await Promise.all([asks('left:dying'), asks('right:living')]);
    process.kill(pid, 'SIGKILL');
    const { params } = await client.waitFor(({ method }) => method === 'notifications/cancelled');
    expect(params.requestId).toBe(open.id);
    const failed = await dying;
    expect(failed.error !== undefined || failed.result.isError === true).toBe(true);
    expect(JSON.stringify(failed)).toContain('left');
    client.reply(open, { result: { action: 'decline' } });
    client.reply(other, { result: { action: 'accept', content: { answer: 'to right:living' } } });
    expect((await parsedText(living)).result.content.answer).toBe('to right:living');
    expect(client.notifications.filter(({ method }) => method === 'notifications/cancelled')).toHaveLength(1);
    // It comes back, and has nothing of the answer to its former life.
    const again = await until(
      async () => {
        const response = await client.call('left__tally');
        return response.result?.isError === true || response.error ? undefined : response;
      },
      { what: 'the server to come back' },
    );
    expect(JSON.parse(textOf(again))).toEqual({ asked: 0, open: 0 });
  });

  test('an error of the client reaches the server whole', async () => {
    const { client } = await startTwo();
    const error = { code: -1, message: 'User rejected sampling request', data: { why: ['no', 1.5] } };
    client.handle('sampling/createMessage', () => ({ error }));
    expect(await parsedText(client.call('right__ask_model', { tag: 'x' }))).toEqual({ error });
  });
});

test('progress of the client for a question goes back to the server that asked, under its own token', async () => {
  const { client } = await startTwo();
  const questions: RpcMessage[] = [];
  client.handle('elicitation/create', (_params, request) => {
    questions.push(request);
    return undefined;
  });
  const calls = SERVERS.map((server) =>
    parsedText(client.call(`${server}__ask_form`, { tag: 'slowly', progress: true })),
  );
  await client.waitUntil(() => (questions.length === 2 ? true : undefined), 'both questions');
  const tokens = questions.map(({ params }) => params._meta.progressToken);
  expect(new Set(tokens).size).toBe(2);
  for (const progress of [1, 2, 3]) {
    for (const { params } of questions) {
      client.notify('notifications/progress', {
        progressToken: params._meta.progressToken,
        progress,
        total: 3,
        message: askerOf({ method: 'elicitation/create', params }),
      });
    }
  }
  // One that nobody asked for goes nowhere.
  client.notify('notifications/progress', { progressToken: 'nobody', progress: 1 });
  for (const question of questions) client.reply(question, { result: { action: 'decline' } });
  const answers = await Promise.all(calls);
  for (const [index, server] of SERVERS.entries()) {
    // The first question of each server has the number 1, and so has its token.
    expect(answers[index].progress).toEqual(
      [1, 2, 3].map((progress) => ({ progressToken: 1, progress, total: 3, message: `${server}:slowly` })),
    );
  }
});

test('a flood of questions is bounded: 64 wait for the client, the rest is told that we are busy', async () => {
  const { client } = await startTwo();
  const n = 10_000;
  const questions: RpcMessage[] = [];
  client.handle('elicitation/create', (_params, request) => {
    questions.push(request);
    return undefined;
  });
  const flood = parsedText(
    client.call('left__ask_many', { tag: 'flood', n, summary: true }, { deadline: 60_000 }),
  );
  const tally = await until(
    async () => {
      const now = await parsedText(client.call('left__tally', {}, { deadline: 60_000 }));
      return now.open === 64 ? now : undefined;
    },
    { what: 'all but 64 questions to be refused', deadline: 60_000 },
  );
  expect(tally).toEqual({ asked: n, open: 64, '-32000': n - 64 });
  expect(questions).toHaveLength(64);
  // Everybody else is served meanwhile.
  expect(textOf(await client.call('right__canary', { n: 7 }))).toBe('canary 7');
  for (const question of questions) client.reply(question, { result: answerTo(question as Question) });
  expect(await flood).toEqual({ result: 64, '-32000': n - 64 });
  client.handle('elicitation/create', (params) => ({
    result: answerTo({ method: 'elicitation/create', params }),
  }));
  const next = await parsedText(client.call('left__ask_form', { tag: 'next' }));
  expect(next.result.content.answer).toBe('to left:next');
  expect(alive(client.pid!)).toBe(true);
});

test('the refusal of a flood says that we are busy', async () => {
  const { client } = await startTwo();
  const questions: RpcMessage[] = [];
  client.handle('elicitation/create', (_params, request) => {
    questions.push(request);
    return undefined;
  });
  const calls = parsedText(client.call('left__ask_many', { tag: 'some', n: 70 }));
  await until(async () => (await parsedText(client.call('left__tally'))).open === 64, {
    what: 'all but 64 questions to be refused',
  });
  for (const question of questions) client.reply(question, { result: { action: 'decline' } });
  const refused = (await calls).filter(({ error }: any) => error !== undefined);
  expect(refused).toHaveLength(6);
  for (const { error } of refused) {
    expect(error.code).toBe(-32000);
    expect(error.message).toMatch(/busy/i);
  }
});
