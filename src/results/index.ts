export { LaterResults } from './later-results.ts';
