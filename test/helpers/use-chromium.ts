import type { BrowserContext } from 'playwright-core';
import { afterAll, beforeAll, type TestContext } from 'vitest';
import { messageOf } from '../../src/shared/errors.ts';
import { startChromium, type TestBrowser } from './chromium.ts';

/** A browser that all tests of a file share. */
export interface SharedBrowser {
  /** Undefined if there is no browser on this machine. */
  readonly context: BrowserContext | undefined;
  /** The same for a test, which is skipped with the reason if there is none. */
  contextFor(test: TestContext): BrowserContext;
}

/** Starts a browser before the tests of a file, and closes it after them. */
export function useChromium(): SharedBrowser {
  let browser: TestBrowser | undefined;
  let missing = '';
  beforeAll(async () => {
    try {
      browser = await startChromium();
    } catch (error) {
      missing = messageOf(error).split('\n')[0]!;
    }
  }, 150_000);
  afterAll(() => browser?.close());
  return {
    get context() {
      return browser?.context;
    },
    contextFor: (test) => browser?.context ?? test.skip(`no Chromium: ${missing}`),
  };
}
