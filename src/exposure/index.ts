export { introspection } from './suite/introspect.ts';
export { suite } from './suite/suite.ts';
