export { createFamily, type Child, type Family, type FamilyOptions } from './family.ts';
export type { ChildEnd, ChildState, SpawnOptions } from './child.ts';
export type { StopMeans, StopReport, StopStages, Survivor } from './terminate.ts';
export { createBackoff, type Backoff, type BackoffAdvice, type BackoffOptions } from './backoff.ts';
export { captureOutput, type Output, type OutputOptions } from './output.ts';
