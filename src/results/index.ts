export { LazyResults } from './lazy-results.ts';
