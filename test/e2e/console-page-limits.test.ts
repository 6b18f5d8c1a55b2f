/** What the page of the console may not do, and what other pages may not do to it. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { ConsoleProgram, inBrowser, openConsole } from '../helpers/console-page.ts';
import { startGateway, type TestGateway } from '../helpers/gateway.ts';
import { nodeServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const MANY = 500;
let gateway: TestGateway;
let full: ConsoleProgram;
let readOnly: ConsoleProgram;
let foreign: Server;

const browser = inBrowser(async (_context, atEnd) => {
  const many = Array.from({ length: MANY }, (_, index) => [`server-${index + 1}`, nodeServer('echo')]);
  gateway = await startGateway({ echo: nodeServer('echo'), ...Object.fromEntries(many) });
  const { project, client } = gateway;
  full = new ConsoleProgram(project);
  readOnly = new ConsoleProgram(project, ['--read-only']);
  atEnd(() => project.remove());
  for (const program of [client, full, readOnly]) atEnd(() => program.dispose());
  await Promise.all([full.ready(), readOnly.ready()]);
  foreign = createServer((_request, response) =>
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end('<!doctype html><title>Another page</title>'),
  );
  atEnd(async () => {
    const closed = once(foreign.close(), 'close');
    foreign.closeAllConnections();
    await closed;
  });
  await new Promise<void>((resolve) => foreign.listen(0, '127.0.0.1', resolve));
});

/** Runs in the foreign page: everything a page can try, and what came of it. */
const ATTACK = `async (url) => {
  const body = JSON.stringify({ method: 'servers.disable', params: { gateway: GATEWAY, server: 'echo' } });
  const tried = {};
  const tries = {
    'simple request': () => fetch(url + '/actions', { method: 'POST', body, credentials: 'include', mode: 'no-cors' }),
    'request with the header': () =>
      fetch(url + '/actions', { method: 'POST', body, credentials: 'include', headers: { 'switchboard-console': '1' } }),
    'reading the stream': () => fetch(url + '/events', { credentials: 'include' }),
    'reading the page': () => fetch(url, { credentials: 'include' }),
    'event source': () => new Promise((resolve, reject) => {
      const source = new EventSource(url + '/events', { withCredentials: true });
      source.onmessage = resolve;
      source.onerror = () => { source.close(); reject(new Error('refused')); };
    }),
    'script': () => new Promise((resolve, reject) => {
      const script = document.createElement('script');
      script.src = url + '/events';
      script.onload = resolve;
      script.onerror = () => reject(new Error('refused'));
      document.head.append(script);
    }),
  };
  for (const [name, attempt] of Object.entries(tries))
    tried[name] = await attempt().then(
      (response) => response instanceof Response && response.type === 'opaque' ? 'unreadable' : 'READ',
      () => 'refused',
    );
  const form = document.createElement('form');
  form.method = 'post';
  form.action = url + '/actions';
  form.enctype = 'text/plain';
  form.target = 'result';
  const field = document.createElement('input');
  field.name = body.slice(0, -1) + ', "x":"';
  field.value = '"}';
  form.append(field);
  const frame = document.createElement('iframe');
  frame.name = 'result';
  document.body.append(frame, form);
  const loaded = new Promise((resolve) => { frame.onload = resolve; });
  form.submit();
  await loaded;
  frame.src = url;
  await new Promise((resolve) => { frame.onload = resolve; });
  try { tried.frame = frame.contentDocument.body.innerText; } catch { tried.frame = 'refused'; }
  tried.frame ??= 'refused';
  return tried;
}`;

test('a page of another origin reads nothing and changes nothing', async () => {
  const own = await full.logIn(browser.context);
  await own.page.getByRole('row', { name: /^echo / }).click();
  const gatewayId = await own.page.evaluate(() =>
    decodeURIComponent((globalThis as any).location.hash.split('/')[2]),
  );
  const before = gateway.project.read('switchboard.config.json');
  const other = await browser.context.newPage();
  // The same site as far as cookies go, so that the browser would send the cookie along.
  await other.goto(`http://127.0.0.1:${(foreign.address() as AddressInfo).port}/`);
  const attack = ATTACK.replace('GATEWAY', JSON.stringify(gatewayId));
  const tried = await other.evaluate(`(${attack})(${JSON.stringify(full.url)})`);
  expect(tried).toEqual({
    'simple request': 'refused',
    'request with the header': 'refused',
    'reading the stream': 'refused',
    'reading the page': 'refused',
    'event source': 'refused',
    script: 'refused',
    frame: 'refused',
  });
  expect(gateway.project.read('switchboard.config.json')).toBe(before);
  await own.page.getByRole('button', { name: 'Disable' }).waitFor();
  await other.close();
  await own.page.close();
});

test('of many servers and calls, only those in view are drawn', async () => {
  const { page, show } = await openConsole(browser.context, full.url);
  const drawn = (): Promise<number> => page.locator('.row-space .row').count();
  const servers = page.getByRole('grid', { name: 'Servers' });
  await servers.waitFor();
  expect(await servers.getAttribute('aria-rowcount')).toBe(String(MANY + 2));
  expect(await drawn()).toBeLessThan(60);
  await page.keyboard.press('l');
  await page.keyboard.press('End');
  // By name, in the order of the alphabet.
  await page.getByRole('row', { name: /^server-99 / }).waitFor();
  expect(await drawn()).toBeLessThan(60);

  await show('#/calls');
  const CALLS = 10_000;
  for (let done = 0; done < CALLS; done += 100)
    await Promise.all(Array.from({ length: 100 }, () => gateway.call('echo', 'echo', { text: 'x' })));
  // What is left out because too much came at once is said: "2,950 calls, 50 not shown".
  const summary = page.locator('.toolbar').getByRole('status');
  const counted = async (): Promise<number> =>
    [...(await summary.innerText()).matchAll(/[\d,]+(?= (?:calls|not))/g)].reduce(
      (sum, [count]) => sum + Number(count.replaceAll(',', '')),
      0,
    );
  await until(async () => (await counted()) >= CALLS, { what: 'all calls to be counted', deadline: 30_000 });
  expect(await drawn()).toBeLessThan(60);
  await page.close();
}, 120_000);

test('a browser without the cookie is told how to get a link', async () => {
  const page = await browser.context.newPage();
  await browser.context.clearCookies();
  const response = await page.goto(full.url);
  expect(response?.status()).toBe(401);
  await page.getByText('switchboard console').first().waitFor();
  // Else the browser asks for /favicon.ico, and complains in whichever test is under way then.
  expect(await page.locator('link[rel=icon]').getAttribute('href')).toBe('data:,');
  await page.close();
});

test('a console for reading shows everything and changes nothing', async () => {
  const { page, show } = await openConsole(browser.context, readOnly.link);
  await page.getByText('Read-only', { exact: true }).waitFor();
  await page.getByRole('row', { name: /^server-1 / }).click();
  for (const name of ['Start', 'Disable', 'Remove', 'Add a server'])
    expect(await page.getByRole('button', { name, exact: true }).isDisabled(), name).toBe(true);
  await show('#/hosts');
  await page.getByText('You see each change').waitFor();
  // What the buttons would send is refused as well.
  const send = async (request: object): Promise<unknown> => {
    const response = await fetch('/console/actions', {
      method: 'POST',
      headers: { 'switchboard-console': '1', 'content-type': 'application/json' },
      body: JSON.stringify(request),
    });
    return response.json();
  };
  const params = { gateway: 'any', server: 'echo' };
  for (const request of [
    { method: 'servers.stop', params },
    { method: 'servers.approve', params: { ...params, tool: 'echo', hash: 'any' } },
  ])
    expect(await page.evaluate(send, request)).toMatchObject({
      ok: false,
      error: { message: 'This console is read-only.' },
    });
  await page.close();
});
