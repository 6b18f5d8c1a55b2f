export { createBackoff, type Backoff } from './backoff.ts';
export type { ChildEnd } from './child.ts';
export { withFileLock } from './file-lock.ts';
export { openBrowser } from './open-browser.ts';
export { createFamily, type Child, type Family } from './family.ts';
export { fateOf, ownMark, type ProcessMark } from './mark.ts';
export { captureOutput } from './output.ts';
