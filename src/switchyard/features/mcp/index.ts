export type { ProjectSelector } from './project-binding.ts';
export { createYardSource, YARD_SOURCE_INFO } from './source.ts';
