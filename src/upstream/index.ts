export type { Surroundings } from './incarnation.ts';
export type { StdioServer } from './server.ts';
export { createServerSource } from './source.ts';
