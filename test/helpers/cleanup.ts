import { onTestFinished } from 'vitest';

/** The context of a concurrent test, which it passes because several tests run at once. */
export interface TestScope {
  readonly onTestFinished: (work: () => Promise<void>) => void;
}

/**
 * Runs the work when the current test ends, the last registered first. Outside a test (beforeAll, a script) nothing is
 * registered: clean up in afterAll there.
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
