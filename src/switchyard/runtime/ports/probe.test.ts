import { createServer, type AddressInfo, type Server } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { isPortFree } from './probe.ts';

const open: Server[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => new Promise((done) => server.close(done))));
});

async function listen(host: string): Promise<number> {
  const server = createServer();
  open.push(server);
  await new Promise<void>((done, fail) => {
    server.once('error', fail);
    server.listen(0, host, done);
  });
  return (server.address() as AddressInfo).port;
}

describe('a port', () => {
  test.each(['127.0.0.1', '::1', '0.0.0.0', '::'])('is busy when somebody listens on %s', async (host) => {
    expect(await isPortFree(await listen(host))).toBe(false);
  });

  test('is free if nothing listens, and stays free after the check', async () => {
    const port = await listen('127.0.0.1');
    await new Promise((done) => open.pop()!.close(done));
    expect(await isPortFree(port)).toBe(true);
    expect(await isPortFree(port)).toBe(true);
  });
});
