export type { Surroundings } from './incarnation.ts';
export { createMemory, memoryKey } from './memory.ts';
export { createServerSource } from './source.ts';
