import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { chromium, type BrowserContext } from 'playwright-core';
import { killAll, marker, waitUntilGone, type Marker } from './processes.ts';
import { ROOT } from './temp-project.ts';
import { until } from './until.ts';

/** A browser for one test, with its own profile. */
export interface TestBrowser {
  readonly context: BrowserContext;
  /** Closes it and waits until all its processes have ended. */
  close(): Promise<void>;
}

const CACHE = join(ROOT, 'node_modules/.cache/chromium');
const PACKAGE = '@sparticuz/chromium@153.0.0';
const INSTALL_MS = 60_000;
const CLOSE_MS = 10_000;
const USUAL_PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
];

/**
 * Starts a real Chromium: a configured or installed one, or else one that is downloaded. Throws with the reason if it
 * cannot.
 */
export async function startChromium(): Promise<TestBrowser> {
  const path = await findChromium();
  const mark: Marker = marker();
  await mkdir(CACHE, { recursive: true });
  const profile = await mkdtemp(join(CACHE, 'profile-'));
  const end = async (): Promise<void> => {
    await waitUntilGone(mark).finally(() => killAll(mark));
    await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  };
  try {
    const context = await chromium.launchPersistentContext(profile, {
      executablePath: path,
      headless: true,
      args: ['--disable-background-networking', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
      env: { ...(process.env as Record<string, string>), ...mark.env },
      timeout: 30_000,
    });
    return {
      context,
      close: async () => {
        // A browser that hangs is killed below, and reported.
        await Promise.race([context.close(), sleep(CLOSE_MS, undefined, { ref: false })]);
        await end();
      },
    };
  } catch (error) {
    await killAll(mark);
    await end();
    throw error;
  }
}

async function findChromium(): Promise<string> {
  const named = process.env.SWITCHBOARD_TEST_CHROMIUM;
  if (named !== undefined && named !== '') return named;
  const found = USUAL_PLACES.find((path) => existsSync(path));
  if (found !== undefined) return found;
  if (process.platform !== 'linux') throw new Error('none is installed; SWITCHBOARD_TEST_CHROMIUM names one');
  return alone(installed);
}

/** The one in our cache, downloaded if it is not there yet. */
async function installed(): Promise<string> {
  // Written last, so that an interrupted download is started again.
  const stamp = join(CACHE, 'installed');
  if (!existsSync(stamp) || (await readFile(stamp, 'utf8')) !== PACKAGE) {
    await install();
    await writeFile(stamp, PACKAGE);
  }
  const entry = join(CACHE, 'node_modules/@sparticuz/chromium/build/index.js');
  const before = process.env.TMPDIR;
  // It unpacks itself into the directory for temporary files, where it would stay forever.
  process.env.TMPDIR = join(CACHE, 'unpacked');
  try {
    await mkdir(process.env.TMPDIR, { recursive: true });
    const { default: packed } = (await import(pathToFileURL(entry).href)) as {
      default: { executablePath(): Promise<string> };
    };
    // Not its own arguments: they turn off the same-origin policy, which is what is tested here.
    return await packed.executablePath();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
  }
}

async function install(): Promise<void> {
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', CACHE, PACKAGE];
  try {
    await promisify(execFile)('npm', args, { timeout: INSTALL_MS, killSignal: 'SIGKILL' });
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    // The first line says what failed; the rest may contain addresses and paths that do not belong in a log.
    const [reason = ''] = stderr.split('\n').filter((line) => line.includes('code'));
    throw new Error(`${PACKAGE} could not be installed (${reason.trim() || 'no answer in time'})`, {
      cause: error,
    });
  }
}

/** Concurrent test runs download and unpack the browser only once. */
async function alone<T>(work: () => Promise<T>): Promise<T> {
  const lock = join(CACHE, 'lock');
  await mkdir(CACHE, { recursive: true });
  await until(
    async () => {
      try {
        await mkdir(lock);
        return true;
      } catch {
        // Left behind by a run that was killed.
        const made = await stat(lock).then(
          ({ mtimeMs }) => mtimeMs,
          () => Date.now(),
        );
        if (Date.now() - made > INSTALL_MS + 30_000) await rm(lock, { recursive: true, force: true });
        return false;
      }
    },
    { deadline: INSTALL_MS + 40_000, every: 100, what: 'another run to have fetched the browser' },
  );
  try {
    return await work();
  } finally {
    await rm(lock, { recursive: true, force: true });
  }
}
