import * as fs from 'node:fs';
import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createProject } from '../../../../test/helpers/temp-project.ts';
import { askGateway } from './ask-gateway.ts';
import { openControlChannel, type ControlMethods, type ControlChannel } from './control-channel.ts';

const isWindows = process.platform === 'win32';

async function open(methods: ControlMethods): Promise<ControlChannel> {
  const server = await openControlChannel(createProject().dir, methods);
  onTestFinished(() => server.close());
  return server;
}

/** Everything the server sends until it closes the connection. */
function send(path: string, text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(path);
    let said = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (said += chunk));
    socket.on('error', () => undefined);
    socket.once('close', () => resolve(said));
    socket.write(text);
  });
}

test('a method is called with the first request, and what it returns is sent back', async () => {
  const { address } = await open({
    add: () => ({ sum: 3 }),
    nothing: () => undefined,
    late: () => Promise.resolve('ok'),
  });
  expect(await askGateway(address, 'add')).toEqual({ sum: 3 });
  expect(await askGateway(address, 'nothing')).toBeNull();
  expect(await askGateway(address, 'late')).toBe('ok');
});

test('a method that throws, and one that does not exist, are errors for the one who asks', async () => {
  const { address } = await open({
    fail: () => {
      throw new Error('no luck');
    },
  });
  await expect(askGateway(address, 'fail')).rejects.toThrow('no luck');
  for (const method of ['other', 'toString', '__proto__'])
    await expect(askGateway(address, method)).rejects.toThrow('there is no such method');
});

test('without the token, nothing is done', async () => {
  let calls = 0;
  const { address } = await open({ reload: () => calls++ });
  for (const token of [
    '',
    'x',
    `${address.token}x`,
    address.token.replace(/^./, (first) => (first === '0' ? '1' : '0')),
  ])
    await expect(askGateway({ ...address, token }, 'reload')).rejects.toThrow('not allowed');
  expect(await send(address.path, '{"method":"reload"}\n')).toBe('{"error":"not allowed"}\n');
  expect(await send(address.path, 'null\n')).toBe('{"error":"not allowed"}\n');
  expect(await send(address.path, 'GET / HTTP/1.1\r\n\r\n')).toMatch(/^\{"error":".*JSON.*"\}\n$/);
  expect(calls).toBe(0);
});

test('a request without an end is not read on', async () => {
  const { address } = await open({});
  expect(await send(address.path, 'x'.repeat(200_000))).toBe('');
});

test('a gateway that does not respond is not waited for', async () => {
  const { address } = await open({ never: () => new Promise(() => undefined) });
  await expect(askGateway(address, 'never', 50)).rejects.toThrow('no response within 50 ms');
});

test('a server that was closed is not there any more', async () => {
  const server = await open({});
  const { address } = server;
  server.close();
  await expect(askGateway(address, 'reload')).rejects.toThrow('ENOENT');
});

test('on Windows it is a pipe with a name that nobody can guess', async () => {
  const project = createProject();
  const paths: string[] = [];
  const before = process.cwd();
  onTestFinished(() => process.chdir(before));
  process.chdir(project.dir);
  for (let at = 0; at < 2; at++) {
    // On other systems, the name of a pipe is the name of a file in this directory.
    const server = await openControlChannel(project.dir, {}, {}, 'win32');
    onTestFinished(() => server.close());
    paths.push(server.address.path);
  }
  for (const path of paths) expect(path).toMatch(/^\\\\\.\\pipe\\switchboard-[0-9a-f]{32}$/);
  expect(paths[0]).not.toBe(paths[1]);
});

describe.runIf(!isWindows)('a socket', () => {
  test('is for its owner only, and takes the place of one that was left there', async () => {
    const project = createProject({ [`${process.pid}.sock`]: '' });
    const server = await openControlChannel(project.dir, { hello: () => 'hello' });
    const { address } = server;
    expect(address.path).toBe(project.path(`${process.pid}.sock`));
    expect(fs.statSync(address.path).mode & 0o777).toBe(0o600);
    expect(await askGateway(address, 'hello')).toBe('hello');
    server.close();
    expect(fs.existsSync(address.path)).toBe(false);
  });

  test('with a path that is too long for the system is refused, not cut off', async () => {
    const directory = createProject().path('x'.repeat(100));
    fs.mkdirSync(directory);
    await expect(openControlChannel(directory, {})).rejects.toThrow('too long');
    expect(fs.readdirSync(directory)).toEqual([]);
  });
});
