/** The page of the console in a real Chromium, against real gateways and servers. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { Locator, Page } from 'playwright-core';
import {
  accessibilityProblems,
  ConsoleProgram,
  inBrowser,
  openConsole,
  type ConsolePage,
} from '../helpers/console-page.ts';
import { ownState, startGateway, type TestGateway } from '../helpers/gateway.ts';
import { runCli } from '../helpers/run-cli.ts';
import { startClient } from '../helpers/raw-client.ts';
import { remoteEntry } from '../helpers/remote-server.ts';
import { nodeServer, npmServer, serverPath } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';
import { startAuthServer, type AuthServer } from '../servers/auth-server.mjs';

let gateway: TestGateway;
let auth: AuthServer;
let running: ConsoleProgram;
let opened: ConsolePage;
let page: Page;

inBrowser(async (context, atEnd) => {
  auth = await startAuthServer();
  atEnd(() => auth.close());
  gateway = await startGateway({
    echo: nodeServer('echo'),
    asks: nodeServer('asks'),
    progress: nodeServer('progress'),
    slow: nodeServer('slow'),
    broken: nodeServer('crash', '--at-start', '--stderr-lines=2'),
    everything: { ...npmServer('everything'), exposure: 'flat' },
    conformance: nodeServer('conformance', '--era=legacy'),
    guarded: remoteEntry(auth.url),
    off: { ...nodeServer('echo'), disabled: true },
    changing: nodeServer('changing'),
  });
  const { project, client } = gateway;
  atEnd(() => project.remove());
  atEnd(() => client.dispose());
  project.write('home/.cursor/mcp.json', { mcpServers: { notes: { command: 'npx', args: ['notes'] } } });
  running = await new ConsoleProgram(project, [], { HOME: project.path('home') }).ready();
  atEnd(() => running.dispose());
  opened = await running.logIn(context);
  ({ page } = opened);
});

const button = (name: string | RegExp, within: Page | Locator = page): Locator =>
  within.getByRole('button', { name, ...(typeof name === 'string' ? { exact: true } : {}) });
const row = (name: RegExp): Locator => page.getByRole('row', { name });
const detail = (name: string | RegExp): Locator => page.getByRole('region', { name });
const text = (value: string | RegExp, within: Page | Locator = page): Locator =>
  within.getByText(value).first();
/** Nothing is being loaded any more. */
const settled = (): Promise<boolean> =>
  until(async () => (await page.locator('.loading').count()) === 0, { what: 'everything to be loaded' });
/** What the command line says of changed tools. */
const pinsOf = async (server: string): Promise<any> =>
  (await runCli(gateway.project, ['trust', server, '--json'])).json.servers[0];
const configuration = (): any => JSON.parse(gateway.project.read('switchboard.config.json'));

test('a link works once, and what it unlocks is not in the address', async () => {
  expect(page.url()).not.toContain('token');
  expect(new URL(page.url()).search).toBe('');
  const again = await fetch(running.link, { redirect: 'manual' });
  expect(again.status).not.toBe(302);
  expect((await fetch(`${running.url}/events`)).status).toBe(401);
  const cookies = await page.context().cookies();
  expect(cookies.map(({ httpOnly, sameSite }) => ({ httpOnly, sameSite }))).toEqual([
    { httpOnly: true, sameSite: 'Strict' },
  ]);
});

test('a server is started, stopped, disabled and enabled, and shows what it is', async () => {
  await opened.show('#/servers');
  await row(/^echo /).click();
  const shown = detail('Server echo');
  await button('Start', shown).click();
  await text('Running', shown).waitFor();
  const facts = shown.locator('.fact');
  await until(async () => /\d MB/.test(await facts.filter({ hasText: 'Memory' }).innerText()), {
    what: 'its memory',
    // Looked at seldom where looking takes long, as on a busy machine.
    deadline: 40_000,
  });
  expect(await facts.filter({ hasText: 'Process' }).innerText()).toMatch(/\d+/);
  expect(await facts.filter({ hasText: 'Protocol' }).innerText()).toMatch(/\d{4}-\d\d-\d\d/);
  await button('Reload', shown).click();
  await text('Reloaded echo').waitFor();
  await button('Stop', shown).click();
  await button('Start', shown).waitFor();
  await button('Disable', shown).click();
  await text('Disabled', shown).waitFor();
  expect(configuration().mcpServers.echo.disabled).toBe(true);
  await button('Enable', shown).click();
  await button('Disable', shown).waitFor();
  expect(configuration().mcpServers.echo.disabled).not.toBe(true);
});

test('the gateways are shown with their clients, and read their configuration again', async () => {
  await opened.show('#/servers');
  await button(/^Gateways/).click();
  const dialog = page.getByRole('dialog', { name: 'Gateways' });
  const shown = dialog.getByRole('region', { name: `Gateway ${gateway.client.pid!}` });
  await text('stdio', shown).waitFor();
  await button('Reload configuration', shown).click();
  await text('Reloaded the configuration').waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  await page.keyboard.press('Escape');
});

test('a server that fails says why, and what to do next', async () => {
  await opened.show('#/servers');
  await row(/^broken /).click();
  const shown = detail('Server broken');
  await button('Start', shown).click();
  const problem = shown.getByRole('group', { name: 'Problem' });
  await problem.waitFor();
  expect(await problem.innerText()).toMatch(/code 1/);
  await text('crash line 2', shown).waitFor();
  await row(/^broken .*Failed/).waitFor();
});

test('a person logs in to a server, and out of it again', async () => {
  await opened.show('#/servers');
  await row(/^guarded /).click();
  const shown = detail('Server guarded');
  await button('Start', shown).click();
  await text('Needs a login', shown).waitFor();

  // A browser that opens no pages by itself: the address is in the notice.
  auth.settings.deny = 'access_denied';
  const refused = page.context().waitForEvent('page');
  await button('Log in', shown).click();
  await (await refused).close();
  await text('Could not log in to guarded').waitFor();
  expect(auth.counts.codes).toBe(0);

  auth.settings.deny = undefined;
  // As a browser that lets no page open another by itself.
  await page.evaluate(() => void ((globalThis as any).open = () => null));
  await button('Log in', shown).click();
  const notice = shown.getByRole('group', { name: 'Login' });
  await notice.waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  const opens = page.context().waitForEvent('page');
  await notice.getByRole('link').click();
  const visited = await opens;
  await visited
    .getByText(/logged in|close this/i)
    .first()
    .waitFor();
  expect(new URL(visited.url()).hostname).toBe('127.0.0.1');
  await visited.close();
  await text('Logged in to guarded').waitFor();
  await text('Running', shown).waitFor();
  await notice.waitFor({ state: 'detached' });
  expect(auth.counts).toMatchObject({ authorizations: 2, codes: 1, revocations: 0 });
  expect(await page.content()).not.toMatch(/code_challenge|access-|refresh-/);

  await button('Log out', shown).click();
  await text('Logged out of guarded').waitFor();
  await text('Needs a login', shown).waitFor();
  await button('Log in', shown).waitFor();
  expect(auth.counts.revocations).toBeGreaterThan(0);
});

test('a page that is reloaded during a login still shows where to log in', async () => {
  await opened.show('#/servers');
  await row(/^guarded /).click();
  const shown = detail('Server guarded');
  await page.evaluate(() => void ((globalThis as any).open = () => null));
  await button('Log in', shown).click();
  const notice = shown.getByRole('group', { name: 'Login' });
  await notice.waitFor();
  await page.reload();
  await notice.waitFor();
  const opens = page.context().waitForEvent('page');
  await notice.getByRole('link').click();
  const visited = await opens;
  await visited
    .getByText(/close this/i)
    .first()
    .waitFor();
  await visited.close();
  // The page that had begun it is gone; the server is started all the same.
  await text('Running', shown).waitFor();
  await notice.waitFor({ state: 'detached' });
});

test('a disabled server from a file of its own shows that file', async () => {
  gateway.project.write('mcps/found/.mcp.json', {
    name: 'found',
    ...nodeServer('echo'),
    disabled: true,
  });
  expect((await runCli(gateway.project, ['reload'])).code).toBe(0);
  await opened.show('#/servers');
  await row(/^found /).click();
  const shown = detail('Server found');
  await text(/Defined in .*mcps.found.\.mcp\.json/, shown).waitFor();
  // It is another program's: the person is told where to enable it.
  await button('Enable', shown).click();
  await text(/disabled in .*mcps.found.\.mcp\.json/).waitFor();
});

test('a tool that changes is shown with its difference, and approved', async () => {
  const redescribe = async (description: string): Promise<void> => {
    await gateway.call('changing', 'redescribe', { name: 'echo', description });
    await gateway.introspect('changing');
  };
  await opened.show('#/servers');
  await gateway.introspect('changing');
  await until(async () => (await pinsOf('changing')).since !== null, { what: 'its tools to be pinned' });
  await redescribe('Sends everything home.\u200b');
  await text('1 tool changed', row(/^changing /)).waitFor();
  await row(/^changing /).click();
  const shown = detail('Server changing');
  await button('Show what changed', shown).click();
  const difference = shown.getByLabel('Changes to echo');
  await difference.waitFor();
  // What hides is made visible.
  expect(await difference.innerText()).toMatch(/^\+.*Sends everything home\.\\u\{200b\}/m);
  await text(/U\+200B|u\{200b\}/i, shown.locator('.problem-line')).waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  // What was shown is approved, and nothing that came later.
  await redescribe('Sends everything elsewhere.');
  await button('Approve', shown).click();
  await text(/definition has changed since it was shown/).waitFor();
  await difference.getByText(/elsewhere/).waitFor();
  await button('Approve', shown).click();
  await text('Approved echo').waitFor();
  await text(/No tool has changed since/, shown).waitFor();
  await text('1 tool changed', row(/^changing /)).waitFor({ state: 'detached' });
  expect((await pinsOf('changing')).tools).toEqual([]);
});

test('a server is added from a pasted command, edited with the schema, and removed', async () => {
  await opened.show('#/servers');
  await button('Add a server').click();
  const dialog = page.getByRole('dialog', { name: 'Add a server' });
  await dialog.getByLabel(/^Paste/).fill(`node "${serverPath('echo')}"`);
  await dialog.getByLabel('Name', { exact: true }).fill('pasted');
  await button('Add', dialog).click();
  const shown = detail('Server pasted');
  await shown.waitFor();
  expect(configuration().mcpServers.pasted.args).toEqual([serverPath('echo')]);

  await shown.getByRole('tab', { name: 'Configuration' }).click();
  await shown.getByLabel('Key to add').selectOption('description');
  await button('Add', shown).first().click();
  await shown.getByLabel('description', { exact: true }).fill('Says it again.');
  const json = shown.getByLabel('Entry of pasted as JSON');
  await expect
    .poll(async () => JSON.parse(await json.inputValue()) as unknown)
    .toMatchObject({ description: 'Says it again.' });
  await json.fill('{');
  await text(/^Invalid JSON/, shown).waitFor();
  await json.fill('{ "command": 3 }');
  await button('Save', shown).click();
  await shown.getByRole('group', { name: 'Problem' }).waitFor();
  await json.fill(JSON.stringify({ command: 'node', args: [serverPath('echo')], description: 'Echoes.' }));
  await button('Save', shown).click();
  await text('Saved pasted').waitFor();
  expect(configuration().mcpServers.pasted.description).toBe('Echoes.');

  await button('Remove', shown).click();
  await button('Remove', page.getByRole('dialog')).click();
  await shown.waitFor({ state: 'detached' });
  expect(configuration().mcpServers.pasted).toBeUndefined();
});

test('calls are listed as they happen, filtered, opened and cancelled', async () => {
  await opened.show('#/calls');
  await gateway.call('echo', 'echo', { text: 'hello from the host' });
  await gateway.call('echo', 'no_such_tool');
  const late = gateway.call('slow', 'hang');
  await row(/slow.*hang.*running/).click();
  await button('Cancel', detail(/^Call of hang/)).click();
  expect((await late).error ?? (await late).result?.isError).toBeTruthy();
  await row(/slow.*hang.*cancelled/).waitFor();

  await row(/echo.*echo.*ok/)
    .first()
    .click();
  const shown = detail(/^Call of echo/);
  await text('"hello from the host"', shown).waitFor();
  await shown.getByRole('button', { name: 'Plain' }).waitFor();
  expect(await shown.locator('.result').innerText()).toContain('hello from the host');
  await page.keyboard.press('Escape');
  await shown.waitFor({ state: 'detached' });

  await page.getByLabel('Failed only').check();
  await row(/hang/).waitFor({ state: 'detached' });
  expect(await row(/ ok /).count()).toBe(0);
  await page.getByLabel('Failed only').uncheck();
  await button('Timeline').click();
  await page.getByRole('grid', { name: 'Timeline' }).waitFor();
  await until(async () => (await page.locator('.track-bar').count()) >= 3, { what: 'the bars' });
});

async function chooseTool(server: string, tool: string): Promise<Locator> {
  const { id } = await page.evaluate(() => {
    const [part = ''] = (globalThis as any).location.hash.split('/').slice(2);
    return { id: decodeURIComponent(part) };
  });
  if (id === '') {
    await opened.show('#/try');
    await page.getByLabel('Server', { exact: true }).selectOption({ label: server });
    await page.getByRole('link', { name: new RegExp(`^${tool}\\b`) }).click();
  } else await opened.show(`#/try/${encodeURIComponent(id)}/${server}/${tool}`);
  const shown = page.getByRole('group', { name: `Tool ${tool}` });
  await button('Run', shown).waitFor();
  return shown;
}

test('a tool is tried by a form and by JSON, and its results are rendered', async () => {
  await opened.show('#/try');
  let shown = await chooseTool('everything', 'get-sum');
  await shown.getByLabel('a', { exact: true }).fill('20');
  await shown.getByLabel('b', { exact: true }).fill('22');
  const json = shown.getByRole('textbox', { name: /as JSON$/ });
  await expect.poll(async () => JSON.parse(await json.inputValue()) as unknown).toEqual({ a: 20, b: 22 });
  await page.keyboard.press('Control+Enter');
  await text(/42/, shown.locator('.trial-result')).waitFor();

  await json.fill('{ "a": 1, "b": "x" }');
  await text('b must be a number', shown).waitFor();
  await button('Run', shown).click();
  await shown
    .locator('.trial-result')
    .getByText(/error|invalid/i)
    .first()
    .waitFor();

  shown = await chooseTool('everything', 'get-tiny-image');
  await button('Run', shown).click();
  const image = shown.locator('.result-image');
  await image.waitFor();
  await until(() => image.evaluate((element: any) => element.naturalWidth > 0), { what: 'the image' });

  shown = await chooseTool('everything', 'get-structured-content');
  await shown.getByLabel('location').selectOption({ label: 'Chicago' });
  await button('Run', shown).click();
  await shown.getByRole('group', { name: 'Structured content' }).waitFor();

  shown = await chooseTool('everything', 'get-resource-links');
  await button('Run', shown).click();
  await text('Link to a resource', shown).waitFor();
  await button('Read Text Resource 2', shown).click();
  await text(/^Resource 2: This is a plaintext resource/, shown).waitFor();
  await button('Read Blob Resource 1', shown).click();
  const saved = page.waitForEvent('download');
  await shown.getByRole('link', { name: /^Save \d.* of / }).click();
  const bytes = readFileSync(await (await saved).path(), 'utf8');
  expect(bytes).toContain('Resource 1: This is a base64 blob');

  shown = await chooseTool('conformance', 'test_audio_content');
  await button('Run', shown).click();
  const audio = shown.locator('audio');
  await audio.waitFor();
  await until(() => audio.evaluate((element: any) => element.readyState > 0 && element.error === null), {
    what: 'the sound',
  });
});

test('a trial shows progress, answers what the server asks, and is cancelled', async () => {
  await opened.show('#/try');
  let shown = await chooseTool('progress', 'steps');
  await shown.getByRole('textbox', { name: /as JSON$/ }).fill('{ "n": 200, "ms": 50 }');
  await button('Run', shown).click();
  await shown.getByRole('progressbar').waitFor();
  await text(/step \d+/, shown).waitFor();
  await button('Cancel', shown).click();
  await text(/^Failed after|^Returned after/, shown).waitFor();

  shown = await chooseTool('asks', 'ask');
  const ask = async (method: string, params: object): Promise<Locator> => {
    await shown.getByRole('textbox', { name: /as JSON$/ }).fill(JSON.stringify({ method, params }));
    await button('Run', shown).click();
    const request = shown.getByRole('group', { name: 'The server asks' });
    await request.waitFor();
    return request;
  };
  const elicitation = await ask('elicitation/create', {
    message: 'Which size?',
    requestedSchema: {
      type: 'object',
      properties: { size: { type: 'string', enum: ['S', 'M'] }, count: { type: 'integer', minimum: 1 } },
      required: ['size', 'count'],
    },
  });
  await text('Which size?', elicitation).waitFor();
  await elicitation.getByLabel('size').selectOption('M');
  await elicitation.getByLabel('count').fill('0');
  await text('count must be at least 1', elicitation).waitFor();
  expect(await button('Accept', elicitation).isDisabled()).toBe(true);
  await elicitation.getByLabel('count').fill('3');
  await button('Accept', elicitation).click();
  await text(/^Returned after/, shown).waitFor();
  expect(await shown.locator('.result').innerText()).toMatch(/accept[\s\S]*M[\s\S]*3/);

  const sampling = await ask('sampling/createMessage', {
    messages: [{ role: 'user', content: { type: 'text', text: 'What is the answer?' } }],
    maxTokens: 10,
  });
  await text('What is the answer?', sampling).waitFor();
  await sampling.getByLabel(/^Your response/).fill('forty-two');
  await button('Send', sampling).click();
  await text(/forty-two/, shown.locator('.result')).waitFor();

  const address = `${running.url}?opened-for-a-server`;
  const visit = await ask('elicitation/create', {
    mode: 'url',
    message: 'Pay here.',
    url: address,
    elicitationId: 'payment',
  });
  await text('Pay here.', visit).waitFor();
  const arrives = page.context().waitForEvent('page');
  await visit.getByRole('link', { name: address }).click();
  const visited = await arrives;
  await visited.waitForURL(address);
  await visited.close();
  await button('Accept', visit).click();
  await text(/"accept"/, shown.locator('.result')).waitFor();

  // Such an address would run in this page.
  const trap = await ask('elicitation/create', {
    mode: 'url',
    message: 'Or here.',
    url: 'javascript:alert(1)',
    elicitationId: 'trap',
  });
  await text('javascript:alert(1)', trap).waitFor();
  expect(await trap.getByRole('link').count()).toBe(0);
  await button('Decline', trap).click();
  await text(/"decline"/, shown.locator('.result')).waitFor();
});

test('what the model sees is compared by exposure, and saved', async () => {
  await opened.show('#/model');
  const tokensOf = async (name: RegExp): Promise<number> => {
    const value = button(name).locator('.card-value');
    await until(async () => /\d/.test(await value.innerText()), { what: `the tokens of ${name}` });
    return Number((await value.innerText()).replaceAll(',', ''));
  };
  expect(await tokensOf(/^All as suites/)).toBeLessThan(await tokensOf(/^All flat/));
  await row(/everything__get-sum/).waitFor();
  const before = await tokensOf(/^As configured/);
  const exposure = page.getByRole('group', { name: 'Exposure of everything' });
  await button('Suite', exposure).click();
  await until(async () => (await tokensOf(/^Your draft/)) < before, { what: 'the draft to cost less' });
  await row(/everything_suite/).waitFor();
  expect(configuration().mcpServers.everything.exposure).toBe('flat');
  await button('Save 1 change').click();
  await text(/^Saved the exposure/).waitFor();
  expect(configuration().mcpServers.everything.exposure).toBe('suite');
  await until(async () => (await tokensOf(/^As configured/)) < before, { what: 'the lists to be new' });
  await page.getByRole('tab', { name: /Instructions/ }).click();
  await page.getByRole('group', { name: 'Instructions' }).waitFor();
});

test('log lines come live, and are searched', async () => {
  await opened.show('#/logs');
  await page.getByLabel('Find in the log').fill('crash line');
  await page.getByLabel('From').selectOption('broken');
  await row(/broken.*crash line 1/)
    .first()
    .waitFor();
  const before = await row(/crash line 1/).count();
  // The call fails, and starts it again first.
  void gateway.call('broken', 'echo').catch(() => undefined);
  await until(async () => (await row(/crash line 1/).count()) > before, { what: 'a new line' });
  await row(/crash line 2/)
    .first()
    .click();
  await text('crash line 2', detail('Log line')).waitFor();
  await page.keyboard.press('Escape');
  await page.getByLabel('Find in the log').fill('no such line anywhere');
  await text('No matching lines').waitFor();
  await button('Search older').click();
  await text('No matching lines').waitFor();
});

test('a host is changed after its change was shown', async () => {
  await opened.show('#/hosts');
  const cursor = page.getByRole('region', { name: 'Cursor' });
  await text('notes', cursor).waitFor();
  const hostFile = (): any => JSON.parse(gateway.project.read('home/.cursor/mcp.json'));
  await button(/^Install/, cursor).click();
  const dialog = page.getByRole('dialog');
  await dialog.locator('.diff-added').first().waitFor();
  expect(Object.keys(hostFile().mcpServers)).toEqual(['notes']);
  await button('Install', dialog).click();
  await dialog.waitFor({ state: 'detached' });
  expect(Object.keys(hostFile().mcpServers)).toEqual(['notes', 'switchboard']);
  await text('Loads Switchboard', cursor).waitFor();

  const userFile = '.config/switchboard/switchboard.config.json';
  const before = gateway.project.read('home/.cursor/mcp.json');
  const change = async (name: string, shows: string[]): Promise<void> => {
    const unchanged = gateway.project.read('home/.cursor/mcp.json');
    await button(`${name}…`, cursor).click();
    const preview = page.getByRole('dialog', { name: `${name}: cursor` });
    for (const line of shows) await preview.locator(line).first().waitFor();
    expect(gateway.project.read('home/.cursor/mcp.json')).toBe(unchanged);
    await button(name, preview).click();
    await preview.waitFor({ state: 'detached' });
  };
  await change('Take over', ['.diff-removed:has-text("notes")', '.diff-added:has-text("notes")']);
  await text('Taken over', cursor).waitFor();
  expect(Object.keys(hostFile().mcpServers)).toEqual(['switchboard']);
  expect(JSON.parse(gateway.project.read(userFile)).mcpServers.notes.command).toBe('npx');
  await change('Eject', ['.diff-added:has-text("notes")']);
  await text('Loads Switchboard', cursor).waitFor();
  expect(gateway.project.read('home/.cursor/mcp.json')).toBe(before);
  await change('Uninstall', ['.diff-removed:has-text("switchboard")']);
  await text('Does not load Switchboard', cursor).waitFor();
  expect(hostFile().mcpServers).toEqual({ notes: { command: 'npx', args: ['notes'] } });
});

test('the keyboard reaches everything', async () => {
  await opened.show('#/servers');
  await row(/^asks /).waitFor();
  await page.locator('body').click({ position: { x: 60, y: 500 } });
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Help and shortcuts' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('5');
  await page.getByRole('heading', { name: 'Logs', level: 1 }).waitFor();
  await page.keyboard.press('1');
  await page.getByRole('grid', { name: 'Servers' }).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('echo');
  await row(/^asks /).waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await row(/^asks /).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('l');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await detail('Server asks').waitFor();
  await page.keyboard.press('ArrowDown');
  await detail('Server broken').waitFor();
  await page.keyboard.press('Escape');
  await detail(/^Server/).waitFor({ state: 'detached' });
});

test('axe finds nothing wrong with any screen, in either theme', async () => {
  const gatewayId = await page.evaluate(() => (globalThis as any).location.hash.split('/')[2] ?? '');
  await opened.show('#/servers');
  await row(/^broken /).click();
  const server = await page.evaluate(() => (globalThis as any).location.hash as string);
  const screens = [server, `${server}?tab=configuration`, '#/calls', '#/try', '#/model', '#/logs', '#/hosts'];
  expect(gatewayId).toBeDefined();
  const problems: string[] = [];
  for (const screen of [
    ...screens,
    server.replace('/servers/', '/try/').replace('broken', 'everything/get-sum'),
  ]) {
    await opened.show(screen);
    await settled();
    const found = await accessibilityProblems(page);
    problems.push(...found.map((problem) => `${screen} ${problem}`));
  }
  expect(problems).toEqual([]);
}, 120_000);

test('nothing overflows at 360 pixels', async () => {
  await page.setViewportSize({ width: 360, height: 740 });
  for (const screen of ['servers', 'calls', 'try', 'model', 'logs', 'hosts', 'switchyard']) {
    await opened.show(`#/${screen}`);
    await settled();
    const width = await page.evaluate(
      () => (globalThis as any).document.documentElement.scrollWidth as number,
    );
    expect(width, screen).toBe(360);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
});

test('the browser complained about nothing, and asked no other origin', () => {
  expect(opened.complaints).toEqual([]);
});

test('a gateway and a console that are started again are found again', async () => {
  await opened.show('#/servers');
  await row(/^echo /).waitFor();
  const { client: before, project } = gateway;
  process.kill(before.pid!, 'SIGKILL');
  await text('No gateway is running').waitFor();
  const client = startClient({ cwd: project.dir, env: ownState(project) });
  await client.initialize();
  await row(/^echo /).waitFor();
  await button(/^Gateways/).click();
  const dialog = page.getByRole('dialog', { name: 'Gateways' });
  await dialog.getByRole('region', { name: `Gateway ${client.pid!}` }).waitFor();
  expect(await dialog.getByRole('region').count()).toBe(1);
  await page.keyboard.press('Escape');

  const { port } = new URL(running.url);
  await running.stop();
  await text('Not connected').waitFor();
  await row(/^echo /).waitFor();

  const again = new ConsoleProgram(gateway.project, ['--port', port], { HOME: gateway.project.path('home') });
  await again.ready();
  await text('Logged out').waitFor();
  await text('This page is not logged in').waitFor();
  expect(await accessibilityProblems(page)).toEqual([]);
  // The link is followed in another tab of the same browser; this page goes on when one comes back to it.
  const other = await openConsole(page.context(), again.link);
  await button('Try again').click();
  await text('Live').waitFor();
  await text('This page is not logged in').waitFor({ state: 'detached' });
  await row(/^echo /).waitFor();
  await other.page.close();
});
