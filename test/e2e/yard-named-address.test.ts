/** Named addresses in a real Chromium: requests without a body, logins, and hot reloading. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test, type TestContext } from 'vitest';
import { ROOT } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';
import { useChromium } from '../helpers/use-chromium.ts';
import { createShop } from '../helpers/yard-shop.ts';
import { serviceCommand } from '../helpers/yard-traffic.ts';

const browser = useChromium();

async function newPage(context: TestContext): Promise<Page> {
  const page = await browser.contextFor(context).newPage();
  page.setDefaultTimeout(30_000);
  return page;
}

const LOGINS = { 'login-node': [26_000, 26_049], 'login-express': [26_050, 26_099] } as const;

test.for(Object.entries(LOGINS))(
  '%s: requests without a body arrive, and a login stays on the address',
  async ([program, ports], context) => {
    const page = await newPage(context);
    const shop = await createShop({ services: { web: serviceCommand(program) }, ports });
    await shop.ask('up');
    const origin = `http://${shop.named('web').host}`;
    await page.goto(origin);
    // Runs in the page.
    const send = (method: string): Promise<string> =>
      fetch('/method', { method }).then(async (answer) => `${answer.status} ${await answer.text()}`);
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      expect(await page.evaluate(send, method)).toBe(`200 ${method} from ${origin}`);
    }
    // A form without fields; then a cookie and an absolute redirect.
    await page.getByRole('button').click();
    await page.getByText('welcome').waitFor();
    expect(page.url()).toBe(`${origin}/`);
    await page.reload();
    await page.getByText('welcome').waitFor();
  },
);

const VITE_PAGE = '<!doctype html><h1></h1><script type="module" src="/main.js"></script>';
const viteModule = (text: string): string =>
  `document.querySelector('h1').textContent = '${text}';\nimport.meta.hot.accept();\n`;

test('Vite updates a module over its WebSocket on the named address, without reloading the page', async (context) => {
  const page = await newPage(context);
  const vite = join(ROOT, 'node_modules/vite/bin/vite.js');
  const shop = await createShop({
    services: { web: `node ${vite} --port {port} --strictPort --host {host}` },
    ports: [26_100, 26_149],
    files: { 'index.html': VITE_PAGE, 'main.js': viteModule('one') },
  });
  await shop.ask('up');
  const { host } = shop.named('web');
  const opened = page.waitForEvent('websocket', (socket) => new URL(socket.url()).host === host);
  const connected = page.waitForEvent('console', (message) => message.text().includes('[vite] connected'));
  await page.goto(`http://${host}/`);
  await page.getByText('one').waitFor();
  await opened;
  await connected;
  await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }));
  // Vite watches a file some time after it has served it, so the first change may go unnoticed.
  const changed = async (): Promise<boolean> => {
    writeFileSync(join(shop.dir, 'main.js'), viteModule('two'));
    return page
      .getByText('two')
      .waitFor({ timeout: 2000 })
      .then(
        () => true,
        () => false,
      );
  };
  await until(changed, { what: 'the module to be replaced', deadline: 30_000 });
  expect(await page.evaluate(() => 'isSamePage' in globalThis)).toBe(true);
});
