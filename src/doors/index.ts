export type { ServerIdentity } from './legacy.ts';
export { openStdioDoor, type StdioDoor } from './stdio.ts';
