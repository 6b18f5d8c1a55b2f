export { compound } from './compound/compound.ts';
export { flat } from './flat/flat.ts';
export { hidden } from './hidden.ts';
export { redacted } from './redact.ts';
export { matches, toolRules, toolSettingWarnings } from './rules.ts';
export { introspection } from './suite/introspect.ts';
export { ownSentence } from './suite/learned-description.ts';
export { suite } from './suite/suite.ts';
