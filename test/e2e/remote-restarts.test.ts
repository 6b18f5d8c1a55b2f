/** Remote servers that restart, lose sessions or drop their streams. */
import { describe, expect, test } from 'vitest';
import { startGateway, type TestGateway } from '../helpers/gateway.ts';
import { textOf } from '../helpers/raw-client.ts';
import {
  BOUNDED,
  expectClear,
  failure,
  freePort,
  remoteEntry,
  startOddServer,
  startRemote,
} from '../helpers/remote-server.ts';
import { nodeServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

describe('a server that comes and goes', () => {
  /** How soon that is, is another test's matter. */
  async function untilItWorks(call: TestGateway['call'], args: { message: string }): Promise<void> {
    await until(
      async () => {
        const answer = await call('far', 'echo', args);
        if (answer.result?.isError !== true) return textOf(answer) === `Echo: ${args.message}`;
        expectClear(failure(answer), 'far');
        return false;
      },
      { what: 'the server to be used again', every: 100, deadline: 30_000 },
    );
  }

  test('everything, killed and started again: the next call works, and the ones in flight fail once', async () => {
    const remote = await startRemote('streamableHttp');
    const { client, call } = await startGateway({
      far: remoteEntry(remote.url, { type: 'http' }),
      near: nodeServer('echo'),
    });
    expect(textOf(await call('far', 'echo', { message: 'one' }))).toBe('Echo: one');
    const hanging = [1, 2, 3].map((n) =>
      call('far', 'trigger-long-running-operation', { duration: 60, steps: 600 }, { progressToken: `p${n}` }),
    );
    for (const n of [1, 2, 3]) await client.waitFor(({ params }) => params?.progressToken === `p${n}`);
    await remote.stop();
    // The first may have been written to a connection that was just closing.
    expectClear(failure(await call('far', 'echo', { message: 'nobody there' })), 'far');
    // A call that is sent while these end, ends with them.
    for (const answer of await Promise.all(hanging)) expectClear(failure(answer), 'far');
    const refused = failure(await call('far', 'echo', { message: 'nobody there' }));
    expect(refused).toMatch(/cannot be reached at http:.*connection refused/);
    expectClear(refused, 'far');
    expect(textOf(await call('near', 'echo', { text: 'here' }))).toBe('here');
    await remote.start();
    await untilItWorks(call, { message: 'two' });
    // Again, with nobody noticing that it was away.
    await remote.stop();
    await remote.start();
    await untilItWorks(call, { message: 'three' });
    client.check();
  });

  test('the same over SSE', async () => {
    const remote = await startRemote('sse');
    const { client, call } = await startGateway({ far: remoteEntry(remote.url, { type: 'sse' }) });
    expect(textOf(await call('far', 'echo', { message: 'one' }))).toBe('Echo: one');
    const long = { duration: 60, steps: 600 };
    const hanging = call('far', 'trigger-long-running-operation', long, { progressToken: 'p' });
    await client.waitFor(({ params }) => params?.progressToken === 'p');
    await remote.stop();
    const sentence = failure(await hanging);
    expect(sentence).toContain('closed its event stream');
    expectClear(sentence, 'far');
    expectClear(failure(await call('far', 'echo', { message: 'nobody there' })), 'far');
    await remote.start();
    await untilItWorks(call, { message: 'two' });
    await remote.stop();
    await remote.start();
    await untilItWorks(call, { message: 'three' });
  });

  test('calls in flight when it dies fail once each and are not sent again; later ones work', async () => {
    const server = await startOddServer({ port: await freePort() });
    const { client, call } = await startGateway({ odd: remoteEntry(server.url, { type: 'http' }) });
    expect(textOf(await call('odd', 'ok', { tag: 'first' }))).toBe('ran first');
    const inFlight = ['a', 'b', 'c', 'd'];
    const hanging = inFlight.map((tag) => call('odd', 'held', { tag }));
    await until(() => server.waiting() === inFlight.length, { what: 'all to have arrived' });
    await server.stop();
    for (const answer of await Promise.all(hanging)) {
      const sentence = failure(answer);
      expect(sentence).toMatch(/before it responded/);
      expectClear(sentence, 'odd');
    }
    await server.start();
    const later = ['e', 'f', 'g', 'h'];
    const answers = await Promise.all(later.map((tag) => call('odd', 'ok', { tag })));
    expect(answers.map(textOf)).toEqual(later.map((tag) => `ran ${tag}`));
    for (const tag of [...inFlight, ...later]) expect(server.ran(tag)).toBe(1);
    client.check();
  });

  // The guide promises it; after three failed calls the gateway leaves a server alone for a while, as it does programs.
  test('one that was away for many calls works with the first call after it is back', async () => {
    const server = await startOddServer({ port: await freePort() });
    const { call } = await startGateway({ odd: remoteEntry(server.url, { type: 'http' }) });
    expect(textOf(await call('odd', 'ok', { tag: 'before' }))).toBe('ran before');
    await server.stop();
    for (let n = 0; n < 6; n++) expectClear(failure(await call('odd', 'ok', { tag: 'nobody' })), 'odd');
    await server.start();
    expect(textOf(await call('odd', 'ok', { tag: 'back' }))).toBe('ran back');
    expect(server.ran('back')).toBe(1);
  });

  test('one that restarts again and again under calls: each is answered once, and none is carried out twice', async () => {
    const server = await startOddServer({ port: await freePort() });
    const { client, call } = await startGateway({ odd: remoteEntry(server.url, { type: 'http' }) });
    let running = true;
    const answered = { well: 0, badly: 0 };
    const caller = async (name: string): Promise<void> => {
      for (let n = 0; running; n++) {
        const tag = `${name}-${n}`;
        const answer = await call('odd', 'ok', { tag });
        if (answer.result?.isError === true) {
          expectClear(failure(answer), 'odd');
          expect(server.ran(tag), tag).toBeLessThanOrEqual(1);
          answered.badly++;
        } else {
          expect(textOf(answer)).toBe(`ran ${tag}`);
          expect(server.ran(tag), tag).toBe(1);
          answered.well++;
        }
      }
    };
    const callers = ['a', 'b', 'c', 'd', 'e', 'f'].map(caller);
    for (let restart = 0; restart < 3; restart++) {
      const goal = answered.well + 50;
      await until(() => answered.well > goal, { what: 'calls that work', deadline: 20_000 });
      await server.stop();
      await server.start();
    }
    const goal = answered.well + 50;
    await until(() => answered.well > goal, { what: 'calls that work again', deadline: 20_000 });
    running = false;
    await Promise.all(callers);
    client.check();
  });

  test('a session that is forgotten under several calls: those that wait are answered, new ones too, none twice', async () => {
    const server = await startOddServer();
    const { client, call } = await startGateway({ odd: remoteEntry(server.url, { type: 'http' }) });
    for (let round = 0; round < 2; round++) {
      const running = ['a', 'b', 'c'].map((tag) => `${tag}${round}`);
      const waiting = running.map((tag) => call('odd', 'held', { tag }));
      await until(() => server.waiting() === running.length, { what: 'all to have arrived' });
      server.forget();
      const fresh = Array.from({ length: 8 }, (_, n) => `new${round}-${n}`);
      const answers = fresh.map((tag) => call('odd', 'ok', { tag }));
      // These find out that nobody knows the session; those that run are not to be hurt by that for long.
      await until(() => server.sessions() > 0, { what: 'a new session' });
      server.release();
      expect((await Promise.all(answers)).map(textOf)).toEqual(fresh.map((tag) => `ran ${tag}`));
      for (const [index, answer] of (await Promise.all(waiting)).entries()) {
        // They belong to a session that is gone: answered, or failed with a sentence, but once.
        if (answer.result?.isError === true || answer.error !== undefined)
          expectClear(failure(answer), 'odd');
        else expect(textOf(answer)).toBe(`ran ${running[index]!}`);
      }
      for (const tag of [...running, ...fresh]) expect(server.ran(tag), tag).toBe(1);
    }
    client.check();
  });

  test('one that forgets every session at once gets an error in the end, and a limited number of greetings', async () => {
    const server = await startOddServer();
    const { call } = await startGateway({ odd: remoteEntry(server.url, { type: 'http' }) });
    expect(textOf(await call('odd', 'ok', { tag: 'fine' }))).toBe('ran fine');
    server.settings.before = (request) => {
      if (request.method === 'POST') server.forget();
      return false;
    };
    const before = server.requests.length;
    expectClear(failure(await call('odd', 'ok', { tag: 'never' }, { deadline: BOUNDED })), 'odd');
    expect(server.ran('never')).toBe(0);
    expect(server.requests.length - before).toBeLessThan(30);
    server.settings.before = undefined;
    await until(async () => (await call('odd', 'ok', { tag: 'again' })).result?.isError !== true, {
      what: 'it to work again',
    });
  });

  test('a stream for its messages that comes and goes disturbs no call, and is not asked for without end', async () => {
    const server = await startOddServer({ listening: 'flap' });
    const { client, call } = await startGateway({ odd: remoteEntry(server.url, { type: 'http' }) });
    const gets = (): number => server.requests.filter(({ method }) => method === 'GET').length;
    for (let n = 0; n < 50; n++) expect(textOf(await call('odd', 'ok', { tag: `c${n}` }))).toBe(`ran c${n}`);
    await until(() => gets() >= 2, { what: 'the stream to be asked for again' });
    server.settings.listening = 'open';
    await until(() => server.listeners() === 1, { what: 'a stream that stays', deadline: 20_000 });
    expect(gets()).toBeLessThan(60);
    await client.request('logging/setLevel', { level: 'debug' });
    server.tell({
      jsonrpc: '2.0',
      method: 'notifications/message',
      params: { level: 'error', data: 'heard' },
    });
    const { params } = await client.waitFor(({ method }) => method === 'notifications/message');
    expect(params).toEqual({ level: 'error', data: 'heard' });
  });
});
