export type { FileApproval, ProjectSelector } from './project-binding.ts';
export { createYardSource, YARD_SOURCE_INFO } from './source.ts';
