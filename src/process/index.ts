export { createBackoff, type Backoff } from './backoff.ts';
export type { ChildEnd } from './child.ts';
export { createFamily, type Child, type Family } from './family.ts';
export { fateOf, ownMark, type ProcessMark } from './mark.ts';
export { captureOutput, type Output } from './output.ts';
