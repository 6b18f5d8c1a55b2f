export { runCode, runCodeDefinition } from './run-code.ts';
export { Scripts } from './scripts.ts';
