export { suiteExposure } from './suite/suite.ts';
