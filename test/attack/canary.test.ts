import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { HTTP_ABUSERS } from '../helpers/abusers.ts';
import { ABUSES, startAbused } from '../helpers/abuses.ts';
import { atTestEnd } from '../helpers/cleanup.ts';
import { startWatchedGateway, startWatchedHttpGateway } from '../helpers/canary.ts';
import { processYard } from '../helpers/yard-processes.ts';

/** Nothing a stranger sends holds up the event loop for longer, in milliseconds of computing. */
const MAX_HELD = 50;
/** How long 99 of 100 calls to another server take at most meanwhile, in milliseconds. */
const MAX_P99 = 100;
const abuses = ABUSES.map((abuse) => [abuse.name, abuse] as const);
const abusesOverHttp = abuses.filter(([, { needsStdio }]) => needsStdio !== true);

test.skipIf(process.platform !== 'linux').each(abuses)(
  'calls to other servers are answered in time during %s',
  { timeout: 300_000 },
  async (_, abuse) => {
    const gateway = await startWatchedGateway({ bad: await startAbused(abuse), ...abuse.others }, abuse);
    const { longest, calls } = await gateway.during(() => abuse.run(gateway.client));
    expect(longest).toBeLessThan(MAX_HELD);
    // The answers of one client come one after another, and a remote server runs in this process: these are measured over
    // HTTP, below.
    if (abuse.fillsClient !== true && abuse.delaysCalls !== true && typeof abuse.server !== 'function')
      expect(p99(calls)).toBeLessThan(MAX_P99);
  },
);

for (const [kind, open] of Object.entries(HTTP_ABUSERS)) {
  test.skipIf(process.platform !== 'linux').each(abusesOverHttp)(
    `calls of other clients over HTTP are answered in time during %s, by one ${kind}`,
    { timeout: 300_000 },
    async (_, abuse) => {
      const watched = await startWatchedHttpGateway(
        { bad: await startAbused(abuse), ...abuse.others },
        abuse,
      );
      const abuser = await open(watched.gateway);
      const { longest, calls } = await watched.during(() => abuse.run(abuser));
      expect(longest).toBeLessThan(MAX_HELD);
      if (abuse.delaysCalls !== true) expect(p99(calls)).toBeLessThan(MAX_P99);
    },
  );

  test.skipIf(process.platform !== 'linux')(
    `calls of other clients are answered in time during log searches that never end, by one ${kind}`,
    { timeout: 300_000 },
    async () => {
      const yard = await processYard('[services.web]\ncommand = "node web.mjs"\n', {
        'web.mjs': `
          import { createServer } from 'node:http';
          console.log('a'.repeat(60) + '!');
          createServer().listen(Number(process.env.PORT), process.env.HOST);`,
      });
      await yard.ask('up');
      const options = { project: yard, env: yard.env };
      const watched = await startWatchedHttpGateway({ yard: { builtin: 'switchyard' } }, options);
      const abuser = await open(watched.gateway);
      const search = (): Promise<unknown> =>
        abuser.call('yard_suite', {
          action: 'call',
          subtool: 'switchyard_logs',
          args: { grep: '^(a+)+$' },
        });
      const { longest, calls } = await watched.during(() => Promise.all(Array.from({ length: 5 }, search)));
      expect(longest).toBeLessThan(MAX_HELD);
      expect(p99(calls)).toBeLessThan(MAX_P99);
      await yard.ask('down');
    },
  );
}

test.skipIf(process.platform !== 'linux')(
  'calls of other clients are answered in time while large requests end at the same moment',
  { timeout: 300_000 },
  async () => {
    const watched = await startWatchedHttpGateway({});
    const { port, token } = watched.gateway;
    const body = Buffer.from(
      `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":[${'{"a":[]},'.repeat(4e6 / 9)}0]}}`,
    );
    const head = [
      'POST /mcp HTTP/1.1',
      'Host: localhost',
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      'Accept: application/json, text/event-stream',
      `Content-Length: ${body.length}`,
      'Connection: close\r\n\r\n',
    ].join('\r\n');
    const { longest, calls } = await watched.during(async () => {
      const sockets = Array.from({ length: 30 }, () => connect(port, '127.0.0.1'));
      atTestEnd(() => {
        for (const socket of sockets) socket.destroy();
        return Promise.resolve();
      });
      for (const socket of sockets)
        await new Promise((written) =>
          socket.write(Buffer.concat([Buffer.from(head), body.subarray(0, -1)]), written),
        );
      const closed = sockets.map((socket) => once(socket.resume(), 'close'));
      for (const socket of sockets) socket.write(body.subarray(-1));
      await Promise.all(closed);
    });
    expect(longest).toBeLessThan(MAX_HELD);
    expect(p99(calls)).toBeLessThan(MAX_P99);
  },
);

function p99(sorted: readonly number[]): number {
  return sorted[Math.floor(sorted.length * 0.99)] ?? 0;
}
