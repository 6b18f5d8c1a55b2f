import { PassThrough, Writable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { ENVELOPE } from './envelope.ts';
import { Message } from './message.ts';
import { Peer, faultError, type PeerEvents } from './peer.ts';
import { defineShape } from './shape.ts';
import { StreamTransport, type StreamTransportOptions } from './stream-transport.ts';

const SHAPE = defineShape({ ...ENVELOPE, params: { name: true } });

function peerOn(options: Partial<StreamTransportOptions> = {}, makeId?: () => number) {
  const input = new PassThrough();
  const written: Buffer[] = [];
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      written.push(chunk);
      done();
    },
  });
  const events: string[] = [];
  const transport = new StreamTransport(input, output, { shape: SHAPE, ...options });
  const heard: PeerEvents = {
    request: (message) => {
      events.push(
        `request ${message.text(SHAPE.slot('id')) ?? ''} ${message.string(SHAPE.slot('method')) ?? ''}`,
      );
    },
    notification: (message) => events.push(`notification ${message.string(SHAPE.slot('method')) ?? ''}`),
    refused: (refusal, id) => events.push(`refused ${refusal} ${id ?? '-'}`),
    dropped: (why) => events.push(`dropped ${why}`),
    ended: (why) => events.push(`ended ${why}`),
  };
  const peer = new Peer(transport, SHAPE, heard, makeId);
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  return {
    peer,
    transport,
    events,
    written: () => Buffer.concat(written).toString(),
    writes: () => written.length,
    say: async (text: string) => {
      input.write(text);
      await settle();
    },
    end: async () => {
      input.end();
      await settle();
      await settle();
    },
    settle,
  };
}

const outcomes = () => {
  const heard: string[] = [];
  return {
    heard,
    listener: (name: string) => ({
      answered: (answer: Message) =>
        void heard.push(`${name} ${answer.text(SHAPE.slot('result')) ?? 'error'}`),
      unanswered: (reason: string) => void heard.push(`${name} ${reason}`),
    }),
  };
};

describe('answers', () => {
  test('are matched by value and type, once', async () => {
    const { peer, say, events } = peerOn();
    const { heard, listener } = outcomes();
    expect(peer.request('a', undefined, listener('first'))).toBe(1);
    expect(peer.request('b', {}, listener('second'))).toBe(2);
    await say(
      '{"jsonrpc":"2.0","id":"1","result":{}}\n{"jsonrpc":"2.0","id":1.5,"result":{}}\n{"jsonrpc":"2.0","id":3,"result":{}}\n',
    );
    await say('{"jsonrpc":"2.0","result":{}}\n{"jsonrpc":"2.0","id":null,"error":{}}\n');
    expect(heard).toEqual([]);
    expect(events).toHaveLength(5);
    await say(
      '{"jsonrpc":"2.0","id":2,"result":{"b":1}}\n{"jsonrpc":"2.0","id":1.0,"result":{"a":1}}\n{"jsonrpc":"2.0","id":1,"result":{"again":1}}\n',
    );
    expect(heard).toEqual(['second {"b":1}', 'first {"a":1}']);
    expect(peer.pendingCount).toBe(0);
  });

  test('that are damaged or too large fail their request at once', async () => {
    const { peer, say, events } = peerOn({ messageBytes: 1000 });
    const { heard, listener } = outcomes();
    for (const name of ['bad', 'big', 'last', 'fine']) peer.request(name, undefined, listener(name));
    await say('{"jsonrpc":"2.0","id":1,"result":{"x":"\u0001"}}\n');
    await say(`{"jsonrpc":"2.0","id":2,"result":{"x":"${'y'.repeat(2000)}"}}\n`);
    await say(`{"jsonrpc":"2.0","result":{"x":"${'y'.repeat(2000)}"},"id":3}\n`);
    expect(heard).toEqual(['bad unreadable', 'big too-large', 'last too-large']);
    await say(`{"jsonrpc":"2.0","result":{"x":"${'y'.repeat(2000)}","id":4}}\n`);
    expect(heard.at(-1)).toBe('fine unreadable');
    expect(events).toEqual(['refused too-large -']);
  });

  test.each([
    ['a byte order mark before it', '\ufeff{"jsonrpc":"2.0","id":2,"result":{}}\n'],
    ['neither a result nor an error', '{"jsonrpc":"2.0","id":2}\n'],
    ['line breaks in it', '{"jsonrpc":"2.0","id":2,\n"result":{}}\n'],
    [
      'several lines',
      `${JSON.stringify({ jsonrpc: '2.0', id: 2, result: { a: [{ id: 1 }] } }, undefined, 2)}\n`,
    ],
    [
      'several lines and its id last',
      `${JSON.stringify({ result: {}, id: 2, jsonrpc: '2.0' }, undefined, 2)}\n`,
    ],
    ['half of it missing', '{"jsonrpc":"2.0","id":2,"result":{"conte\n'],
    ['half of another one before it', '{"jsonrpc":"2.0","res{"jsonrpc":"2.0","id":2,"result":{}}\n'],
  ])('with %s fail their request at once', async (_, text) => {
    const { peer, say } = peerOn();
    const { heard, listener } = outcomes();
    for (const name of ['first', 'bad']) peer.request(name, undefined, listener(name));
    // A byte order mark at the very beginning would be skipped.
    await say('\n{"jsonrpc":"2.0","method":"note"}\n');
    await say(text);
    expect(heard).toEqual(['bad unreadable']);
    await say('{"jsonrpc":"2.0","id":1,"result":{}}\n');
    expect(heard.at(-1)).toBe('first {}');
  });

  test.each([
    ['a log line in JSON', '{"id":1}\n{"level":"info","id":1}\n'],
    ['a log entry over several lines', '{\n  "level": "info",\n  "id": 1\n}\n'],
    ['a message inside a log line', 'debug: {"jsonrpc":"2.0","id":1,"result":{}}\n'],
    ['an id further inside', '{\n  "jsonrpc": "2.0",\n  "params": {\n    "id": 1\n  }\n}\n'],
  ])('are still waited for after %s', async (_, text) => {
    const { peer, say } = peerOn();
    const { heard, listener } = outcomes();
    peer.request('a', undefined, listener('a'));
    await say(text);
    expect(heard).toEqual([]);
  });

  test('that nobody waits for any more are dropped; closing tells everyone', async () => {
    const { peer, say, events } = peerOn();
    const { heard, listener } = outcomes();
    const forgotten = peer.request('a', undefined, listener('a'));
    peer.request('b', undefined, listener('b'));
    expect(peer.forget(forgotten)).toBe(true);
    expect(peer.forget(forgotten)).toBe(false);
    await say('{"jsonrpc":"2.0","id":1,"result":{}}\n');
    expect(events).toEqual(['dropped an answer with the unknown id 1']);
    peer.close();
    expect(heard).toEqual(['b closed']);
  });
});

describe('calls', () => {
  test('are told apart from notifications, and faults are named', async () => {
    const { say, events, end } = peerOn();
    await say('{"jsonrpc":"2.0","id":"x","method":"ask"}\n{"jsonrpc":"2.0","method":"tell"}\n');
    await say(
      '{"jsonrpc":"1.0","id":1,"method":"m"}\n{"jsonrpc":"2.0","id":2,"method":3}\n{"jsonrpc":"2.0","id":[],"method":"m"}\n',
    );
    await say('[{"jsonrpc":"2.0","id":3,"method":"m"}]\n7\n{"jsonrpc":"2.0","id":4}\nwhat\n');
    await end();
    expect(events).toEqual([
      'request "x" ask',
      'notification tell',
      'refused bad-version 1',
      'refused bad-method 2',
      'refused bad-id -',
      'refused batch -',
      'refused not-an-object -',
      'refused not-a-message 4',
      'refused malformed -',
      'ended end',
    ]);
  });

  test('every refusal has a code of JSON-RPC', () => {
    expect(faultError('malformed').code).toBe(-32700);
    expect(faultError('duplicate-param').code).toBe(-32602);
    expect(faultError('batch').code).toBe(-32600);
  });
});

describe('passing on', () => {
  const request = () =>
    Message.from(
      { jsonrpc: '2.0', id: 'their id', method: 'm', params: { name: 'old', x: [1, 2] }, future: true },
      SHAPE,
    );

  test('a request travels as it came, under our id, with its edits', async () => {
    const { peer, written, settle } = peerOn();
    const message = request();
    const name = SHAPE.slot('params.name');
    peer.relay(
      message,
      [{ start: message.start(name), end: message.end(name), with: '"new"' }],
      outcomes().listener('x'),
    );
    await settle();
    expect(written()).toBe(
      '{"jsonrpc":"2.0","id":1,"method":"m","params":{"name":"new","x":[1,2]},"future":true}\n',
    );
  });

  test('an answer gets the id it was asked with, in the framing of the other side', async () => {
    const { peer, written, settle } = peerOn({ framing: 'content-length' });
    const answer = Message.from({ result: { text: 'ü' }, id: 9, jsonrpc: '2.0' }, SHAPE);
    peer.forwardAnswer(answer, request());
    await settle();
    const body = '{"result":{"text":"ü"},"id":"their id","jsonrpc":"2.0"}';
    expect(written()).toBe(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  });

  test('what is said in one turn leaves in one write; large parts are not copied', async () => {
    const { peer, writes, written, settle } = peerOn();
    for (let id = 1; id <= 50; id++) peer.answer(String(id), { ok: true });
    await settle();
    expect(writes()).toBe(1);
    expect(written().split('\n')).toHaveLength(51);
    const big = Message.from({ jsonrpc: '2.0', id: 1, result: { text: 'y'.repeat(100_000) } }, SHAPE);
    peer.forwardAnswer(big, Message.from({ jsonrpc: '2.0', id: 2, method: 'm' }, SHAPE));
    peer.answer('3', {});
    await settle();
    const lines = written().trimEnd().split('\n');
    expect(JSON.parse(lines[50]!)).toEqual({ jsonrpc: '2.0', id: 2, result: { text: 'y'.repeat(100_000) } });
    expect(lines[51]).toBe('{"jsonrpc":"2.0","id":3,"result":{}}');
  });

  test('answers go out in the framing the other side opened with', async () => {
    const { peer, transport, say, written } = peerOn();
    await say('Content-Length: 40\r\n\r\n{"jsonrpc":"2.0","id":1,"method":"ping"} ');
    peer.answer('1', {});
    transport.flush();
    expect(written()).toBe('Content-Length: 36\r\n\r\n{"jsonrpc":"2.0","id":1,"result":{}}');
  });
});

test('ids may be made by others; one that is still pending is not used again', async () => {
  const ids = [500, 7, 500, 7, 9];
  const { peer, say } = peerOn({}, () => ids.shift()!);
  const { heard, listener } = outcomes();
  const used = ['a', 'b', 'c'].map((name) => {
    const upcoming = peer.upcomingId;
    expect(peer.request('x', undefined, listener(name))).toBe(upcoming);
    return upcoming;
  });
  expect(used).toEqual([500, 7, 9]);
  await say(used.map((id) => `{"jsonrpc":"2.0","id":${id},"result":${id}}\n`).join(''));
  expect(heard).toEqual(['a 500', 'b 7', 'c 9']);
});

describe('very many messages at once', () => {
  const count = 5000;
  const lines = Array.from({ length: count }, (_, n) => `{"jsonrpc":"2.0","method":"m${n}"}\n`).join('');

  test('are read in order, in several turns of the event loop', async () => {
    const { say, settle, events } = peerOn();
    await say(lines);
    let turns = 1;
    for (; events.length < count; turns++) await settle();
    expect(turns).toBeGreaterThan(1);
    expect(events).toEqual(Array.from({ length: count }, (_, n) => `notification m${n}`));
  });

  test('are all read before the end of the stream', async () => {
    const { say, end, settle, events } = peerOn();
    await say(lines);
    await say('{"jsonrpc":"2.0","method":"last"}');
    await end();
    while (!events.includes('ended end')) await settle();
    expect(events).toHaveLength(count + 2);
    expect(events.slice(-2)).toEqual(['notification last', 'ended end']);
  });

  test('are not read on while the stream is paused', async () => {
    const { say, settle, events, transport } = peerOn();
    await say(lines);
    transport.pause();
    while (events.length < count) await settle();
    await say('{"jsonrpc":"2.0","method":"later"}\n');
    await settle();
    expect(events).toHaveLength(count);
    transport.resume();
    while (events.length === count) await settle();
    expect(events.at(-1)).toBe('notification later');
  });
});
