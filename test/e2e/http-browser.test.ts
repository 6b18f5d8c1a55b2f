/**
 * A web page in a real Chromium tries to reach the gateway of the person who looks at it. Whatever it tries, with or
 * without the token, it reads nothing, no session begins and no server starts.
 */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test, type TestContext } from 'vitest';
import { startHttpGateway, TOKEN, type HttpGateway } from '../helpers/http-gateway.ts';
import { nodeServer } from '../helpers/temp-project.ts';
import { useChromium } from '../helpers/use-chromium.ts';

/** What became of one attempt, as the page sees it. */
interface Attempt {
  readonly what: string;
  /** What the page could read; undefined where it could read nothing. */
  readonly read: string | undefined;
}

let gateway: HttpGateway;
let pages: Server;
const browser = useChromium();

beforeAll(async () => {
  gateway = await startHttpGateway({ echo: nodeServer('echo') }, { config: { exposure: 'flat' } });
  pages = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.end('<!doctype html><title>elsewhere</title><p>a page');
  });
  pages.listen(0, '127.0.0.1');
  await once(pages, 'listening');
});

afterAll(async () => {
  pages.closeAllConnections();
  pages.close();
  await gateway.stop();
  await gateway.project.remove();
});

/** An empty page. */
const newPage = (context: TestContext): Promise<Page> => browser.contextFor(context).newPage();

/** A page of that origin. */
async function visit(context: TestContext, host: string): Promise<Page> {
  const page = await newPage(context);
  await page.goto(`http://${host}:${(pages.address() as AddressInfo).port}/`);
  return page;
}

async function untouched(): Promise<void> {
  expect((await gateway.health()).sessions).toBe(0);
  expect(gateway.children()).toEqual([]);
}

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'page', version: '0' } },
};

/** Everything that a script on a page can do to an address. Runs in the page. */
async function tryEverything({
  base,
  token,
  body,
}: {
  base: string;
  token: string | undefined;
  body: string;
}): Promise<Attempt[]> {
  const { document, EventSource, WebSocket, XMLHttpRequest, navigator } = globalThis as any;
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const query = token === undefined ? '' : `?token=${token}&access_token=${token}`;
  const attempts: Attempt[] = [];
  const attempt = async (what: string, work: () => Promise<string | undefined>): Promise<void> => {
    const read = await work().catch(() => undefined);
    attempts.push({ what, read });
  };
  const reading = async (what: string, path: string, init: RequestInit): Promise<void> =>
    attempt(what, async () => {
      const response = await fetch(`${base}${path}${query}`, init);
      // An opaque answer is one that nobody can look into.
      return response.type === 'opaque' ? undefined : `${response.status} ${await response.text()}`;
    });
  const soon = (subject: any, good: string, bad: string): Promise<string | undefined> =>
    new Promise((resolve) => {
      subject.addEventListener(good, () => resolve(good));
      subject.addEventListener(bad, () => resolve(undefined));
      setTimeout(() => resolve(undefined), 5000);
    });

  for (const path of ['/mcp', '/sse', '/message', '/status', '/']) {
    await reading(`a simple GET of ${path}`, path, {});
    await reading(`a GET of ${path} with headers`, path, {
      headers: { ...authorization, accept: 'application/json, text/event-stream' },
    });
    await reading(`a GET of ${path} without CORS`, path, { mode: 'no-cors', credentials: 'include' });
    await reading(`a simple POST to ${path}`, path, { method: 'POST', body });
    await reading(`a POST to ${path} with headers`, path, {
      method: 'POST',
      body,
      headers: { ...authorization, 'content-type': 'application/json' },
    });
    await reading(`a POST to ${path} without CORS`, path, {
      method: 'POST',
      mode: 'no-cors',
      body,
      headers: { 'content-type': 'text/plain', ...authorization },
    });
    await reading(`a DELETE of ${path}`, path, { method: 'DELETE', headers: authorization });
  }
  await attempt('XMLHttpRequest', async () => {
    const request = new XMLHttpRequest();
    request.open('POST', `${base}/mcp${query}`);
    request.setRequestHeader('content-type', 'application/json');
    for (const [name, value] of Object.entries(authorization)) request.setRequestHeader(name, value);
    request.send(body);
    return (await soon(request, 'load', 'error')) && `${request.status} ${request.responseText}`;
  });
  for (const path of ['/sse', '/mcp']) {
    await attempt(`EventSource of ${path}`, async () => {
      const source = new EventSource(`${base}${path}${query}`);
      const outcome = await soon(source, 'open', 'error');
      source.close();
      return outcome;
    });
  }
  await attempt('WebSocket', async () => {
    const socket = new WebSocket(`${base.replace('http', 'ws')}/mcp${query}`);
    const outcome = await soon(socket, 'open', 'error');
    socket.close();
    return outcome;
  });
  await attempt('a beacon', () => {
    navigator.sendBeacon(`${base}/mcp${query}`, body);
    return Promise.resolve(undefined);
  });
  for (const [tag, link] of [
    ['img', 'src'],
    ['script', 'src'],
  ]) {
    await attempt(`<${tag}>`, async () => {
      const element = document.createElement(tag);
      element[link!] = `${base}/sse${query}`;
      document.body.append(element);
      return soon(element, 'load', 'error');
    });
  }
  await attempt('a frame', async () => {
    const frame = document.createElement('iframe');
    frame.src = `${base}/status${query}`;
    document.body.append(frame);
    await soon(frame, 'load', 'error');
    try {
      // Of another origin, so that it must throw or be null.
      return frame.contentDocument?.body?.innerText ?? undefined;
    } catch {
      return undefined;
    }
  });
  await attempt('a worker', async () => {
    const { Worker, Blob } = globalThis as any;
    const code = `fetch(${JSON.stringify(`${base}/status${query}`)}, { headers: ${JSON.stringify(authorization)} })
      .then((response) => response.text()).then((text) => postMessage(text), () => postMessage(''));`;
    const worker = new Worker(URL.createObjectURL(new Blob([code])));
    const heard = new Promise<string>((resolve) => {
      worker.onmessage = ({ data }: { data: string }) => resolve(data);
      worker.onerror = () => resolve('');
      setTimeout(() => resolve(''), 5000);
    });
    const text = await heard;
    worker.terminate();
    return text === '' ? undefined : text;
  });
  return attempts;
}

/** Posts a form into a frame, as a page can do without any script of ours running. Runs in the page. */
async function postForm({
  action,
  name,
  value,
}: {
  action: string;
  name: string;
  value: string;
}): Promise<void> {
  const { document } = globalThis as any;
  const frame = document.createElement('iframe');
  frame.name = 'target';
  document.body.append(frame);
  const form = document.createElement('form');
  Object.assign(form, { method: 'POST', enctype: 'text/plain', target: 'target', action });
  const field = document.createElement('input');
  Object.assign(field, { name, value });
  form.append(field);
  document.body.append(form);
  const loaded = new Promise((resolve) => {
    frame.addEventListener('load', resolve);
    setTimeout(resolve, 5000);
  });
  form.submit();
  await loaded;
}

describe.each(['127.0.0.1', 'localhost'])('a page on http://%s, at another port', (host) => {
  for (const [what, token] of [
    ['without the token', undefined],
    ['that knows the token', TOKEN],
  ] as const) {
    test(`${what} reads nothing, begins nothing and starts nothing`, async (context) => {
      const page = await visit(context, host);
      const statuses = new Set<number>();
      page.on('response', (response) => {
        if (response.url().includes(`:${gateway.port}/`)) statuses.add(response.status());
      });
      for (const name of ['127.0.0.1', 'localhost']) {
        const base = `http://${name}:${gateway.port}`;
        const attempts = await page.evaluate(tryEverything, {
          base,
          token,
          body: JSON.stringify(INITIALIZE),
        });
        expect(attempts.length).toBeGreaterThan(40);
        expect(attempts.filter(({ read }) => read !== undefined)).toEqual([]);
        await untouched();
      }
      // They did arrive there: some for want of the token, those that show where they come from for that.
      expect([...statuses].sort()).toEqual([401, 403]);
    });
  }

  test('a form that it posts is refused', async (context) => {
    const page = await visit(context, host);
    const refused = page.waitForResponse((response) => response.url().includes('/mcp'));
    // A form sends name=value, so that the message is spread over both.
    const [name, value] = JSON.stringify(INITIALIZE).replace('"page"', '"pa|ge"').split('|') as [
      string,
      string,
    ];
    await page.evaluate(postForm, {
      action: `http://127.0.0.1:${gateway.port}/mcp?token=${TOKEN}`,
      name,
      value,
    });
    expect((await refused).status()).toBe(403);
    await untouched();
  });

  test('the person who is sent there sees only a refusal', async (context) => {
    const page = await visit(context, host);
    const target = `http://127.0.0.1:${gateway.port}/sse?token=${TOKEN}`;
    const response = await page.goto(target, { referer: page.url() });
    expect(response?.status()).toBe(401);
    await untouched();
  });
});

test('a name that is turned into our address later (DNS rebinding) is refused, though the page is of that origin', async (context) => {
  const page = await newPage(context);
  // Chromium resolves every name below localhost to this machine, as a rebound name would be.
  const response = await page.goto(`http://rebound.localhost:${gateway.port}/status`);
  expect(response?.status()).toBe(403);
  const own = await page.evaluate(async (token) => {
    const answer = await fetch('/status', { headers: { authorization: `Bearer ${token}` } });
    return answer.status;
  }, TOKEN);
  expect(own).toBe(403);
  await untouched();
});

test('the browser does reach it: with the token, and from the address itself, it is let in', async (context) => {
  // Without this the tests above would pass where nothing works at all.
  const page = await newPage(context);
  const response = await page.goto(`http://127.0.0.1:${gateway.port}/status`);
  expect(response?.status()).toBe(401);
  const own = await page.evaluate(async (token) => {
    const answer = await fetch('/status', { headers: { authorization: `Bearer ${token}` } });
    return `${answer.status} ${((await answer.json()) as { status: string }).status}`;
  }, TOKEN);
  expect(own).toBe('200 ok');
});
