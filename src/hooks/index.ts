export { CallHooks } from './call-hooks.ts';
