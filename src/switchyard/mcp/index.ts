export type { YardPlace } from './pinning.ts';
export { createYardSource, YARD } from './source.ts';
