/** What a real Chromium shows right after a switch: one branch, the new one, whatever connections it had open. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test, type TestContext } from 'vitest';
import { ROOT } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';
import { useChromium } from '../helpers/use-chromium.ts';
import { createShop } from '../helpers/yard-shop.ts';

const browser = useChromium();

async function openPage(context: TestContext, url: string): Promise<Page> {
  const page = await browser.contextFor(context).newPage();
  context.onTestFinished(() => page.close());
  await page.goto(url);
  return page;
}

/** The branches that served the page and its scripts. */
const seen = (page: Page): Promise<string[]> => page.evaluate<string[]>('window.seen ?? []');

const TURNS = Array.from({ length: 20 }, (_, turn) => (turn % 2 === 0 ? 'next' : 'main'));

test('a reload right after a switch shows the page and all scripts of the new branch', async (context) => {
  const shop = await createShop({
    services: { web: 'pages' },
    ports: [25_600, 25_649],
    branches: ['next'],
  });
  await Promise.all([shop.ask('up', 'main', '--checkout'), shop.ask('up', 'next')]);
  const page = await openPage(context, `http://localhost:${shop.canonical.web!}/`);
  expect(new Set(await seen(page))).toEqual(new Set(['main']));
  for (const branch of TURNS) {
    const { messages } = await shop.ask('checkout', branch);
    await page.reload();
    expect(await seen(page)).toEqual(Array.from({ length: 9 }, () => branch));
    // The browser had connections to the other branch, and they are gone.
    expect(messages[1]).toMatch(/^ended \d+ connections? to /);
  }
}, 120_000);

/** A page of several modules, each of which says the branch it is from. */
function viteFiles(branch: string): Readonly<Record<string, string>> {
  const note = `(window.seen ??= []).push('${branch}');\n`;
  const names = ['one', 'two', 'three', 'four'];
  return {
    'index.html': `<!doctype html><title>${branch}</title><script type="module" src="/src/main.js"></script>\n`,
    'src/main.js': `${names.map((name) => `import './${name}.js';\n`).join('')}${note}`,
    ...Object.fromEntries(names.map((name) => [`src/${name}.js`, note])),
  };
}

test('Vite: a reload shows the new branch, and an open page reloads on its own', async (context) => {
  const vite = join(ROOT, 'node_modules/vite/bin/vite.js');
  const shop = await createShop({
    services: { web: `node ${vite} --port {port} --strictPort --host 127.0.0.1` },
    ports: [25_650, 25_699],
    files: viteFiles('main'),
  });
  shop.git('checkout', '-q', '-b', 'next');
  for (const [file, text] of Object.entries(viteFiles('next'))) shop.write(file, text);
  shop.git('commit', '-q', '-a', '-m', 'next');
  shop.git('checkout', '-q', 'main');
  await shop.ask('create', 'next');
  await shop.ask('up', 'main', '--checkout');
  await shop.ask('up', 'next');
  const url = `http://localhost:${shop.canonical.web!}/`;
  const allOf = (branch: string): string[] => Array.from({ length: 5 }, () => branch);
  // Two pages: one that is loaded after each switch, and one that nobody touches.
  const loaded = await openPage(context, url);
  expect(await seen(loaded)).toEqual(allOf('main'));
  const left = await openPage(context, 'about:blank');
  let connected = 0;
  left.on('console', (message) => {
    if (message.text().startsWith('[vite] connected')) connected++;
  });
  await left.goto(url);
  for (const [turn, branch] of TURNS.entries()) {
    await until(() => connected > turn, { what: 'the development client to connect', deadline: 30_000 });
    // It would reload by itself and get in the way of ours.
    await loaded.goto('about:blank');
    await shop.ask('checkout', branch);
    await loaded.goto(url);
    expect(await loaded.title()).toBe(branch);
    expect(await seen(loaded)).toEqual(allOf(branch));
    await until(async () => (await seen(left).catch(() => [])).join() === allOf(branch).join(), {
      what: `the open page to show ${branch}`,
      deadline: 30_000,
    });
  }
}, 240_000);
