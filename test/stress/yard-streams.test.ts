/**
 * Large and long streams through the two daemons of Switchyard, each in a process of its own: a gigabyte in every
 * direction arrives as it was sent, and the memory of the daemon does not grow with it.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request as ask, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect, onTestFinished, test } from 'vitest';
import { checkout } from '../../src/switchyard/features/checkout/checkout.ts';
import { ensureProxy } from '../../src/switchyard/features/proxy/ensure.ts';
import { daemonProgram, endProcess, freePort, testYard } from '../helpers/yard-home.ts';

const SIZE = 1 << 30;
const BLOCK = 1 << 20;
/** What Node itself takes is about 50; a daemon that kept what it relays would take more than 1000. */
const MOST_MEMORY_MB = 250;

const program = daemonProgram();

/** Serves a gigabyte to GET, answers with length and hash to POST; by hand over TCP: echoes until the end. */
const SOURCE = `
const http = require('http'), net = require('net'), crypto = require('crypto');
const block = (n) => Buffer.alloc(${BLOCK}, crypto.createHash('sha256').update(String(n)).digest());
http.createServer(async (request, response) => {
  if (request.method === 'POST') {
    const hash = crypto.createHash('sha1');
    let size = 0;
    for await (const chunk of request) { size += chunk.length; hash.update(chunk); }
    response.end(size + ' ' + hash.digest('hex'));
    return;
  }
  for (let n = 0; n < ${SIZE / BLOCK}; n++) {
    if (!response.write(block(n))) await new Promise((resolve) => response.once('drain', resolve));
  }
  response.end();
}).listen(process.env.PORT, '127.0.0.1');
`;

const ECHO = `
require('net').createServer({ allowHalfOpen: true }, (socket) => socket.on('error', () => 0).pipe(socket))
  .listen(process.env.PORT, '127.0.0.1');
`;

function* blocks(): Generator<Buffer> {
  for (let n = 0; n < SIZE / BLOCK; n++) {
    yield Buffer.alloc(BLOCK, createHash('sha256').update(String(n)).digest());
  }
}

function expectedSum(): string {
  const hash = createHash('sha1');
  for (const block of blocks()) hash.update(block);
  return `${SIZE} ${hash.digest('hex')}`;
}

async function sumOf(stream: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha1');
  let size = 0;
  for await (const chunk of stream) {
    size += chunk.length;
    hash.update(chunk);
  }
  return `${size} ${hash.digest('hex')}`;
}

/** The most memory the process has ever had. */
function peakMegabytes(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024;
}

async function down(port: number, host: string): Promise<string> {
  const request = ask({ host: '127.0.0.1', port, headers: { host }, agent: false }).end();
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  return sumOf(answer);
}

async function up(port: number, host: string): Promise<string> {
  const request = ask({ host: '127.0.0.1', port, headers: { host }, agent: false, method: 'POST' });
  const answered = once(request, 'response') as Promise<[IncomingMessage]>;
  await pipeline(Readable.from(blocks()), request);
  const [answer] = await answered;
  return Buffer.concat(await answer.toArray()).toString();
}

test('a gigabyte goes through the named proxy in either direction', async () => {
  const { context, start } = await testYard();
  const { port } = context.config.proxy;
  await ensureProxy(context, { program });
  const pid = context.registry.read().proxies[String(port)]!.pid!;
  onTestFinished(() => endProcess(pid));
  await start('main', 'web', SOURCE);
  const expected = expectedSum();
  expect(await down(port, 'web.main.shop.localhost')).toBe(expected);
  expect(await up(port, 'web.main.shop.localhost')).toBe(expected);
  expect(peakMegabytes(pid)).toBeLessThan(MOST_MEMORY_MB);
});

test('a gigabyte goes through a checkout, and one there and back at once over plain TCP', async () => {
  const [web, echo] = [await freePort(), await freePort()];
  const { context, start } = await testYard(
    `[services.web]\ncommand = "x"\nport = ${web}\n[services.echo]\ncommand = "x"\nport = ${echo}\n`,
  );
  await start('main', 'web', SOURCE, web);
  await start('main', 'echo', ECHO, echo);
  await checkout(context, { branch: 'main', services: [], program });
  const pid = context.registry.read().forwarder!.pid!;
  onTestFinished(() => endProcess(pid));
  const expected = expectedSum();
  expect(await down(web, 'localhost')).toBe(expected);
  expect(await up(web, 'localhost')).toBe(expected);
  const socket = connect({ port: echo, host: '127.0.0.1', allowHalfOpen: true });
  const [back] = await Promise.all([sumOf(socket), pipeline(Readable.from(blocks()), socket)]);
  expect(back).toBe(expected);
  expect(peakMegabytes(pid)).toBeLessThan(MOST_MEMORY_MB);
});
