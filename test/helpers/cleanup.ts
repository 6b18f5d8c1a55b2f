import { onTestFinished } from 'vitest';

/** What a concurrent test hands over: its own context, since several tests are running at once. */
export interface TestScope {
  readonly onTestFinished: (work: () => Promise<void>) => void;
}

/**
 * Runs the work when the current test ends, the last registered first. Outside a test (beforeAll, a script) nothing is
 * registered: whoever made the thing there takes it away again in afterAll.
 */
export function atTestEnd(work: () => Promise<void>, scope?: TestScope): void {
  if (scope !== undefined) {
    scope.onTestFinished(work);
    return;
  }
  try {
    onTestFinished(work);
  } catch {
    // Not inside a test.
  }
}
