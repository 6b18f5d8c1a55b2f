export { introspection } from './suite/introspect.ts';
export { suiteExposure } from './suite/suite.ts';
