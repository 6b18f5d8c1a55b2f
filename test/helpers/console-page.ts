import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, type TestContext } from 'vitest';
import { RunningProgram } from './http-gateway.ts';
import { ROOT, type Project } from './temp-project.ts';
import { until } from './until.ts';
import { useChromium } from './use-chromium.ts';

/** Registers work for the end of the tests of a file; the last registered runs first. */
type AtEnd = (end: () => Promise<unknown>) => void;

/**
 * One browser for all tests of a file, and whatever `prepare` starts for them. Without a browser, the tests are skipped
 * with the reason.
 */
export function inBrowser(prepare: (context: BrowserContext, atEnd: AtEnd) => Promise<void>): {
  readonly context: BrowserContext;
} {
  const ends: (() => Promise<unknown>)[] = [];
  const browser = useChromium();
  beforeAll(async () => {
    if (browser.context !== undefined) await prepare(browser.context, (end) => ends.push(end));
  }, 150_000);
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });
  beforeEach((context: TestContext) => void browser.contextFor(context));
  return {
    get context() {
      return browser.context!;
    },
  };
}

/** `switchboard console` for the gateways that keep their state in a project's folder. */
export class ConsoleProgram extends RunningProgram {
  #said: { readonly url: string; readonly link: string } | undefined;

  constructor(project: Project, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
    super(project, { args: ['console', '--no-open', '--json', ...args], env });
  }

  async ready(): Promise<this> {
    this.#said = await until(
      () => {
        try {
          return JSON.parse(this.stdout) as { url: string; link: string };
        } catch {
          return undefined;
        }
      },
      { what: 'the link', deadline: 30_000, seen: () => this.stderr },
    );
    return this;
  }

  get url(): string {
    return this.#said!.url;
  }

  get link(): string {
    return this.#said!.link;
  }

  /** Opens the page with its link, which works once. */
  async logIn(context: BrowserContext): Promise<ConsolePage> {
    return openConsole(context, this.link);
  }
}

export interface ConsolePage {
  readonly page: Page;
  /** Messages in the browser's console, and requests to other origins. Both should stay empty. */
  readonly complaints: readonly string[];
  /** Opens a screen by its address, such as `#/calls`. */
  readonly show: (address: string) => Promise<void>;
}

export async function openConsole(context: BrowserContext, url: string): Promise<ConsolePage> {
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const complaints: string[] = [];
  const { origin } = new URL(url);
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()))
      complaints.push(`${message.text()} (${message.location().url})`);
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`) && !request.url().startsWith('data:'))
      complaints.push(`asked for ${request.url()}`);
  });
  await page.goto(url);
  await page.getByText('Live', { exact: true }).waitFor();
  return {
    page,
    complaints,
    show: async (address) => {
      await page.evaluate((hash) => {
        (globalThis as any).location.hash = hash;
      }, address);
    },
  };
}

const AXE = readFileSync(join(ROOT, 'node_modules/axe-core/axe.min.js'), 'utf8');

/** The problems that axe finds in the current view, in both themes. */
export async function accessibilityProblems(page: Page): Promise<string[]> {
  const problems: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    // The page's policy would refuse it as a script; evaluated, it belongs to the browser.
    const found = await page.evaluate<string[]>(
      `${AXE};axe.run({ resultTypes: ['violations'] }).then(({ violations }) =>
        violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => id + ': ' + html.slice(0, 200))))`,
    );
    problems.push(...found.map((problem) => `${colorScheme}: ${problem}`));
  }
  await page.emulateMedia({ colorScheme: null });
  return problems;
}
