/**
 * `npm run dev-servers`: real development servers behind their named addresses, in a real Chromium.
 *
 *   node scripts/dev-servers.mjs [--only NAME,NAME] [--cache DIR] [--json]
 *
 * --only   some of the servers in scripts/lib/dev-servers.mjs
 * --cache  where they are installed, on the first run only; default a directory for temporary files
 * --json   print the outcome as JSON
 *
 * Each project is set up by `switchyard init` and started by `switchyard up`, once with each value of host_header. Prints
 * a table: whether the page loads; whether a change arrives over the WebSocket without loading the page again; whether
 * a login (a POST without a body, a cookie, a redirect; see lib/dev-servers.mjs) stays on the address. The exit code is 1
 * when something fails with what init wrote. SWITCHBOARD_TEST_CHROMIUM names the browser.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { ROOT } from './lib/bundle.mjs';
import { DEV_SERVERS } from './lib/dev-servers.mjs';

/** Time limit for each step, in milliseconds. */
const PATIENCE = 60_000;
const SWITCHYARD = join(ROOT, 'dist/switchyard.js');
const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const MODES = ['preserve', 'rewrite'];

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    cache: { type: 'string', default: join(tmpdir(), 'switchyard-dev-servers') },
    json: { type: 'boolean', default: false },
  },
});
const wanted = options.only?.split(',') ?? DEV_SERVERS.map(({ name }) => name);
const unknown = wanted.find((name) => !DEV_SERVERS.some((server) => server.name === name));
if (unknown !== undefined) {
  console.error(
    `No server is called ${unknown}. Available: ${DEV_SERVERS.map(({ name }) => name).join(', ')}.`,
  );
  process.exit(2);
}
const home = mkdtempSync(join(tmpdir(), 'switchyard-dev-servers-home-'));
const env = { ...process.env, SWITCHYARD_HOME: home, CI: '', NEXT_TELEMETRY_DISABLED: '1', BROWSER: 'none' };
const executablePath = process.env.SWITCHBOARD_TEST_CHROMIUM ?? BROWSERS.find((path) => existsSync(path));
const browser = await chromium.launch({
  ...(executablePath === undefined ? {} : { executablePath }),
  args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
});
const rows = [];
try {
  for (const server of DEV_SERVERS.filter(({ name }) => wanted.includes(name))) {
    const root = install(server);
    for (const mode of MODES) rows.push(await measure(server, root, mode));
  }
} finally {
  await browser.close();
  rmSync(home, { recursive: true, force: true });
}
console.log(options.json ? JSON.stringify(rows, null, 2) : table(rows));
process.exit(rows.some((row) => row.byInit && Object.values(row.seen).includes('no')) ? 1 : 0);

/** The directory of a server's project, with its packages installed. */
function install({ name, packages, script, type = 'module' }) {
  const root = join(options.cache, name.toLowerCase().replace(/\W+/g, '-'));
  const dependencies = Object.fromEntries(
    packages.map((each) => [nameOf(each), each.slice(nameOf(each).length + 1)]),
  );
  const manifest = JSON.stringify({ private: true, type, scripts: { dev: script }, dependencies });
  // Written last, so that an interrupted installation is started again.
  const stamp = join(root, 'node_modules', '.installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === manifest) return root;
  console.error(`Installing ${name}`);
  rmSync(root, { recursive: true, force: true });
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(join(root, 'package.json'), manifest);
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--no-package-lock'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  writeFileSync(stamp, manifest);
  return root;
}

function nameOf(wantedPackage) {
  return wantedPackage.slice(0, wantedPackage.lastIndexOf('@'));
}

async function measure({ name, files, edited, login }, root, mode) {
  for (const [path, text] of Object.entries({
    ...files,
    '.gitignore': 'node_modules\n.next\n.svelte-kit\n',
  })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  rmSync(join(root, '.git'), { recursive: true, force: true });
  execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: root });
  switchyard(root, 'init', '--force');
  const byInit = (configure(root, mode, await freePort()) ?? 'preserve') === mode;
  const row = { name, mode, byInit, seen: {} };
  try {
    const up = switchyard(root, 'up');
    const { url } = up.outcomes[0];
    row.seen = await visit(new URL(url), { edited: edited && join(root, edited), login });
  } catch (error) {
    row.seen = { page: 'no' };
    row.error = error.message;
  } finally {
    switchyard(root, 'down');
    switchyard(root, 'proxy', 'stop');
  }
  console.error(`${name}, ${mode}${byInit ? ' (init)' : ''}: ${JSON.stringify(row.seen)} ${row.error ?? ''}`);
  return row;
}

/** Gives the project a separate port for the proxy. Returns the host_header that init wrote. */
function configure(root, mode, proxyPort) {
  const file = join(root, 'switchyard.toml');
  const text = readFileSync(file, 'utf8');
  const written = /^host_header = "(\w+)"\n/m;
  writeFileSync(
    file,
    text
      .replace(written, '')
      .replace('port = 7331', `port = ${proxyPort}`)
      .replace(/^command = .*$/m, `$&\nhost_header = "${mode}"\nready_timeout = 120`),
  );
  return written.exec(text)?.[1];
}

async function visit(url, { edited, login }) {
  const context = await browser.newContext();
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  const sockets = new Set();
  // Once the server has sent something, the page is connected; earlier changes would not reach it.
  const connected = new Promise((resolve) => {
    page.on('websocket', (socket) => {
      const { host } = new URL(socket.url());
      sockets.add(host);
      if (host === url.host) socket.once('framereceived', resolve);
    });
  });
  const works = async (act) =>
    act().then(
      () => 'yes',
      (error) => {
        console.error(
          `  ${page.url()}: ${error.message.split('\n')[0]} WebSockets: ${[...sockets].join(', ')}`,
        );
        return 'no';
      },
    );
  const seen = {};
  seen.page = await works(async () => {
    await page.goto(url.href);
    await page.getByText('one', { exact: true }).waitFor();
  });
  if (edited !== undefined) {
    seen.hot = await works(async () => {
      await within(PATIENCE, connected, 'no WebSocket on this address');
      // A page rendered by the server is visible before its modules, which the change affects, are loaded.
      await page.waitForLoadState('networkidle');
      await page.evaluate(() => Object.assign(globalThis, { isSamePage: true }));
      writeFileSync(edited, readFileSync(edited, 'utf8').replaceAll('one', 'two'));
      await page.getByText('two', { exact: true }).waitFor();
      if (!(await page.evaluate(() => 'isSamePage' in globalThis))) throw new Error('loaded again');
    });
  }
  if (login !== undefined) {
    seen.login = await works(async () => {
      await page.goto(`${url.href}?before`);
      await page.evaluate((path) => {
        const { document } = globalThis;
        const form = Object.assign(document.createElement('form'), { method: 'post', action: path });
        document.body.append(form);
        form.submit();
      }, login);
      await page.waitForURL((at) => at.href === url.href, { waitUntil: 'load' });
      if ((await context.cookies(url.href)).length === 0) throw new Error('no cookie');
    });
  }
  await context.close();
  return seen;
}

function within(ms, promise, problem) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(problem)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

function switchyard(cwd, ...args) {
  const ran = spawnSync(process.execPath, [SWITCHYARD, ...args, '--json'], { cwd, env, encoding: 'utf8' });
  if (ran.status !== 0) throw new Error(`switchyard ${args.join(' ')}: ${ran.stdout}${ran.stderr}`);
  return JSON.parse(ran.stdout);
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

function table(all) {
  const lines = all.map(({ name, mode, byInit, seen: { page, hot = '–', login = '–' } }) => {
    return `| ${name} | \`${mode}\`${byInit ? ' (init)' : ''} | ${page} | ${hot} | ${login} |`;
  });
  return [
    '| Server | `host_header` | Page | Hot update | Login |',
    '| --- | --- | --- | --- | --- |',
    ...lines,
  ].join('\n');
}
