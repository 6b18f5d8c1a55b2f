/**
 * `npm run console-pictures`: pictures of the console, of real gateways and servers, for docs/guide/console.md.
 *
 *   node scripts/console-pictures.mjs [--out DIR] [--keep]
 *
 * --out   where all of them go: each screen at three widths in both themes. Default a directory for temporary files
 * --keep  go on until Ctrl-C, and print a link to the console
 *
 * Those that the guide shows are written to docs/images as well. SWITCHBOARD_TEST_CHROMIUM names the browser.
 */
import { existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { ROOT } from './lib/bundle.mjs';
import { createScene } from './lib/console-scene.mjs';

const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const SIZES = [
  { name: 'narrow', width: 360, height: 740 },
  { name: 'usual', width: 1280, height: 800 },
  { name: 'wide', width: 2560, height: 1300 },
];
const THEMES = ['light', 'dark'];

/** The screens, each with what to do before the picture is taken. */
const SCREENS = [
  { name: 'servers', at: '#/servers' },
  { name: 'server', at: '#/servers', act: (page) => page.getByRole('row', { name: /^filesystem/ }).click() },
  { name: 'add', at: '#/servers', act: add },
  {
    name: 'gateways',
    at: '#/servers',
    act: (page) => page.getByRole('button', { name: /^Gateways/ }).click(),
  },
  { name: 'calls', at: '#/calls', act: (page) => openCall(page, 'read_text_file') },
  {
    name: 'time-line',
    at: '#/calls?view=time',
    act: (page) => page.getByRole('button', { name: 'Timeline' }).click(),
  },
  { name: 'try', at: '#/try', act: tryTool },
  { name: 'model', at: '#/model', act: chooseShop },
  { name: 'logs', at: '#/logs' },
  { name: 'hosts', at: '#/hosts' },
  { name: 'host-change', at: '#/hosts', act: takeOver },
  { name: 'switchyard', at: '#/switchyard' },
  { name: 'help', at: '#/servers', act: (page) => page.getByRole('button', { name: 'Help' }).click() },
];
/** The pictures of the guide. */
const SHOWN = new Set([
  ...[
    'server-usual-light',
    'calls-usual-dark',
    'try-usual-light',
    'model-usual-light',
    'servers-narrow-dark',
  ],
  ...['switchyard-usual-dark', 'host-change-usual-light'],
]);

const { values: options } = parseArgs({ options: { out: { type: 'string' }, keep: { type: 'boolean' } } });
const out = options.out ?? mkdtempSync(join(tmpdir(), 'console-pictures-'));
mkdirSync(out, { recursive: true });
const executablePath = process.env.SWITCHBOARD_TEST_CHROMIUM ?? BROWSERS.find((path) => existsSync(path));
const scene = await createScene();
try {
  if (options.keep) await keep();
  else await takeAll();
} finally {
  await scene.end();
}

async function keep() {
  console.log(scene.page.link);
  const stopped = new Promise((resolve) => process.once('SIGINT', resolve).once('SIGTERM', resolve));
  const worked = sleep(2_000).then(() => scene.work());
  await stopped;
  await worked.catch(() => undefined);
}

async function takeAll() {
  const browser = await chromium.launch({
    ...(executablePath === undefined ? {} : { executablePath }),
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  try {
    const context = await browser.newContext();
    const first = await context.newPage();
    await first.goto(scene.page.link);
    await first.getByText('Live', { exact: true }).waitFor();
    await scene.work();
    for (const screen of SCREENS)
      for (const size of SIZES) for (const theme of THEMES) await take(context, { screen, size, theme });
  } finally {
    await browser.close();
  }
  console.log(out);
}

async function take(context, { screen, size, theme }) {
  const name = `${screen.name}-${size.name}-${theme}`;
  const page = await context.newPage();
  try {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await page.setViewportSize(size);
    await page.goto(`${scene.page.url}${screen.at}`);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.locator('.loading').waitFor({ state: 'detached' });
    await screen.act?.(page);
    await page.locator('.loading').waitFor({ state: 'detached' });
    // Loaded data is rendered in the next frames.
    await sleep(700);
    const paths = [join(out, `${name}.png`)];
    if (SHOWN.has(name)) paths.push(join(ROOT, 'docs/images', `console-${name}.png`));
    for (const path of paths) await page.screenshot({ path });
  } catch (error) {
    console.error(`${name}: ${error.message.split('\n')[0]}`);
  } finally {
    await page.close();
  }
}

async function add(page) {
  await page.getByRole('button', { name: 'Add a server' }).click();
  await page.getByLabel(/^Paste/).fill('npx -y @modelcontextprotocol/server-github');
  await page.getByLabel('Name').waitFor();
}

async function openCall(page, tool) {
  await page
    .getByRole('row', { name: new RegExp(tool) })
    .last()
    .click();
}

async function tryTool(page) {
  await page
    .getByLabel('Server', { exact: true })
    .selectOption({ label: await optionOf(page, 'filesystem') });
  await page.getByRole('link', { name: /^read_text_file/ }).click();
  await page.getByLabel('path', { exact: true }).fill('README.md');
  await page.getByRole('button', { name: 'Run' }).click();
  await page.getByText(/^(?:Returned|Failed) after/).waitFor();
}

async function optionOf(page, server) {
  const options = await page.getByLabel('Server', { exact: true }).locator('option').allTextContents();
  return options.find((text) => text.startsWith(server));
}

async function takeOver(page) {
  await page.getByRole('region', { name: 'Cursor' }).getByRole('button', { name: 'Take over' }).click();
}

async function chooseShop(page) {
  const gateways = page.getByLabel('Gateway to show');
  const options = await gateways.locator('option').allTextContents();
  await gateways.selectOption({ label: options.find((text) => text.includes('shop')) });
}
