import { expect, test } from 'vitest';
import { createLogger } from '../../shared/log.ts';
import { eventually, initializeRequest, openTestDoor, TOKEN } from './door.cases.ts';

async function openLogged() {
  const lines: string[] = [];
  const log = createLogger({ level: 'info', program: 'test', write: (line) => lines.push(line) });
  return { lines, test: await openTestDoor({ log }) };
}

test('who is turned away is in the log with the reason, once for many, and never with a token', async () => {
  const { lines, test } = await openLogged();
  for (let round = 0; round < 20; round++)
    await test.request({ path: '/mcp', headers: { authorization: 'Bearer wrong' } });
  await test.request({ path: `/sse?token=${TOKEN}`, headers: { authorization: undefined } });
  await test.request({ path: `/${TOKEN}`, headers: { host: 'evil.example' } });
  await test.request({ path: '/status', headers: { authorization: TOKEN } });
  await test.request({ path: '/mcp/?x=y' });
  expect(lines).toEqual([
    'test warn  refused status=401 why="wrong token" path=/mcp\n',
    'test warn  refused status=401 why="no token" path=/sse\n',
    'test warn  refused status=403 why="not our Host"\n',
    'test warn  refused status=401 why="no Bearer scheme" path=/status\n',
    'test warn  refused status=404 why="unknown path" path=/mcp/\n',
  ]);
});

test('clients that come and go are in the log by the name they gave, without their id', async () => {
  const { lines, test } = await openLogged();
  const session = await test.startSession();
  await eventually(() => lines.length === 1);
  await test.request({ method: 'DELETE', path: '/mcp', headers: { 'mcp-session-id': session } });
  await eventually(() => lines.length === 2);
  const events = await test.open({ path: '/sse' });
  const path = (await events.next())!.data!;
  const headers = { 'content-type': 'application/json' };
  const initialize = JSON.stringify(initializeRequest()).replace('"name":"test"', '"name":"a\\nb"');
  await test.request({ method: 'POST', path, headers, body: initialize });
  await eventually(() => lines.length === 3);
  events.hangUp();
  await eventually(() => lines.length === 4);
  expect(lines).toEqual([
    'test info  client connected name=test sessions=1\n',
    'test info  client disconnected name=test sessions=0\n',
    'test info  client connected name="a\\\\nb" sessions=1\n',
    'test info  client disconnected name="a\\\\nb" sessions=0\n',
  ]);
  for (const id of [session, new URLSearchParams(path.split('?')[1]).get('sessionId')!])
    expect(lines.join('')).not.toContain(id);
});

test('a client whose initialize fails is not logged', async () => {
  const { lines, test } = await openLogged();
  const bad = { jsonrpc: '2.0', id: 1, method: 'initialize', params: 5 };
  await test.post('', bad, { headers: { 'mcp-session-id': undefined } });
  await eventually(() => test.door.sessions === 0);
  expect(lines).toEqual([]);
});
