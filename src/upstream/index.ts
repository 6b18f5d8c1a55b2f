export type { Surroundings } from './incarnation.ts';
export { createServerSource } from './source.ts';
