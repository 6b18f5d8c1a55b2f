/** The screen of the console that shows Switchyard, in a real Chromium, with real services. */
import { expect, test } from 'vitest';
import type { Locator } from 'playwright-core';
import { accessibilityProblems, ConsoleProgram, inBrowser } from '../helpers/console-page.ts';
import { until } from '../helpers/until.ts';
import { createShop } from '../helpers/yard-shop.ts';
import { visit } from '../helpers/yard-traffic.ts';

const browser = inBrowser(() => Promise.resolve());

const processIn = (cell: string): string | undefined => /process (\d+)/.exec(cell)?.[1];

test('services are started, read, checked out and stopped in the page', async ({ onTestFinished }) => {
  const shop = await createShop({
    services: { web: 'pages', chat: 'talks' },
    ports: [27_500, 27_549],
    branches: ['next'],
  });
  const program = await new ConsoleProgram(shop, [], shop.env).ready();
  const { page, show, complaints } = await program.logIn(browser.context);
  onTestFinished(() => page.close());
  await show('#/switchyard');
  const project = page.getByRole('region', { name: 'Project shop' });
  const row = (branch: string): Locator => project.getByRole('row', { name: new RegExp(`^${branch}`) });
  const cell = (branch: string, service: number): Locator => row(branch).getByRole('cell').nth(service);
  const button = (name: string): Locator => page.getByRole('button', { name, exact: true });

  await button('Start all of next').click();
  await cell('next', 0).getByText('ready').waitFor();
  await cell('next', 1).getByText('ready').waitFor();
  await cell('next', 0)
    .getByRole('link', { name: /next\.shop\.localhost/ })
    .waitFor();
  const restarted = async (service: number, name: string): Promise<void> => {
    const before = processIn(await cell('next', service).innerText());
    await button(name).click();
    await until(
      async () => {
        const now = await cell('next', service).innerText();
        return now.includes('ready') && ![undefined, before].includes(processIn(now));
      },
      { what: 'another process', deadline: 30_000 },
    );
  };
  await restarted(1, 'Restart web of next');

  await button('Stop web of next').click();
  await button('Start web of next').waitFor();
  await cell('next', 0).getByText('ready').waitFor();
  await button('Start web of next').click();
  await cell('next', 1).getByText('ready').waitFor();
  await restarted(0, 'Restart all of next');
  await cell('next', 1).getByText('ready').waitFor();

  await row('main').getByRole('button', { name: 'Check out' }).click();
  await page.getByText('Could not check out main').waitFor();
  await button('Start all of main').click();
  await cell('main', 1).getByText('ready').waitFor();
  for (const branch of ['next', 'main']) {
    await row(branch).getByRole('button', { name: 'Check out' }).click();
    await project.getByText(`Port ${shop.canonical.web} points to web of ${branch}`).waitFor();
    await until(async () => (await visit(shop.usual('web'), '/')).text.includes(`<title>${branch}<`), {
      what: `the usual port to lead to ${branch}`,
      deadline: 30_000,
    });
  }
  await page.getByLabel('Port', { exact: true }).fill(String(shop.canonical.web));
  await button('Find process').click();
  await page.getByText(/\(process \d+\) on /).waitFor();

  await cell('next', 0).getByRole('link', { name: 'Logs' }).click();
  const logs = page.getByRole('region', { name: 'Logs of chat of next' });
  await logs.getByText(/today it is red/).waitFor();
  await logs.getByLabel('Find in the logs').fill('yesterday 3');
  await until(async () => !(await logs.innerText()).includes('today it is red'), { what: 'the search' });
  await logs.getByText(/yesterday 3/).waitFor();
  await logs.getByLabel('Find in the logs').fill('said just now');
  await logs.getByText('No matching lines').waitFor();
  await visit(shop.named('chat', 'next'), '/say?said just now'.replaceAll(' ', '%20'));
  await logs.getByText(/said just now/).waitFor();
  await logs.getByLabel('Find in the logs').fill('');
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.keyboard.press('Escape');

  for (const branch of ['next', 'main']) await button(`Stop all of ${branch}`).click();
  await until(async () => (await project.getByText('ready').count()) === 0, {
    what: 'all to have stopped',
    deadline: 30_000,
  });
  expect(complaints).toEqual([]);
}, 120_000);
