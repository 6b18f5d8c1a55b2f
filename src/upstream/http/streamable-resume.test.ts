import { describe, expect, test } from 'vitest';
import {
  call,
  cancelled,
  events,
  openInitialized,
  serve,
  sessionful,
  until,
  withoutStream,
  data,
  note,
  result,
} from './remote-transport.cases.ts';

describe('an answer whose stream ends early', () => {
  test('is taken up where it broke off', async () => {
    const server = await serve(
      sessionful((seen, response) => {
        const last = seen.headers['last-event-id'];
        if (seen.method === 'GET' && last === undefined) response.writeHead(405).end();
        else if (seen.method === 'POST') {
          events(response, 'retry: 100\nid: a1\ndata:\n\n');
          response.end();
        } else if (last === 'a1') {
          events(response, `id: a2\n${data(note('half'))}`);
          setImmediate(() => response.destroy());
        } else {
          events(response);
          response.end(`id: a3\n${data(result(2, { last }))}`);
        }
      }),
    );
    const rig = await openInitialized(server.url);
    rig.write(call(2));
    expect((await rig.answer(2)).result).toEqual({ last: 'a2' });
    expect(rig.failures).toEqual([]);
    expect(server.seen.filter((seen) => seen.message?.id === 2)).toHaveLength(1);
  });

  test('fails where the server does not take it up again', async () => {
    const server = await serve(
      withoutStream((_, response) => {
        events(response, 'retry: 100\nid: a1\ndata:\n\n');
        response.end();
      }),
    );
    const rig = await openInitialized(server.url);
    rig.write(call(2));
    expect(await rig.sentence(2)).toMatch(
      /^SERVER_LOST: Server 'far' dropped its event stream, .*HTTP 405\. .*may have been processed/,
    );
  });

  test('fails where the stream had no ids, and is not sent again', async () => {
    const server = await serve(
      withoutStream((_, response) => {
        events(response, data(note('x')));
        response.end();
      }),
    );
    const rig = await openInitialized(server.url);
    rig.write(call(2));
    expect(await rig.sentence(2)).toMatch(
      /^SERVER_LOST: Server 'far' ended its event stream without a response\. .*may have been/,
    );
    expect(server.seen.filter((seen) => seen.message?.id === 2)).toHaveLength(1);
    expect(rig.failures).toHaveLength(1);
    expect(rig.transport.open).toBe(true);
  });

  test('is no longer looked for once it is cancelled', async () => {
    const server = await serve(
      sessionful((seen, response) => {
        if (seen.method === 'GET') response.writeHead(seen.headers['last-event-id'] ? 503 : 405).end();
        else if (seen.message.id === 2) {
          events(response, 'retry: 100\nid: a1\ndata:\n\n');
          response.end();
        } else response.writeHead(202).end();
      }),
    );
    const rig = await openInitialized(server.url);
    rig.write(call(2));
    await until(() => server.seen.some((seen) => seen.headers['last-event-id'] === 'a1'));
    rig.write(cancelled(2));
    await until(() => server.seen.some((seen) => seen.message?.method === 'notifications/cancelled'));
    await rig.transport.stop();
    expect(rig.failures).toEqual([]);
  });
});
