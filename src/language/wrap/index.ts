export { instructionsFor } from '../descriptions/instructions.ts';
export { knownAs } from '../descriptions/known.ts';
export { readFolderState } from './folder-state.ts';
export { WRAP_CONFIG_FILE, INSTRUCTIONS_FILE, scriptName } from './names.ts';
export { outerEntryOf, outerConfig } from './outer-config.ts';
export { wrapperScript, type WrapperLaunch } from './script.ts';
export { refuseToUnwrap, unwrapFolder } from './unwrap-folder.ts';
export { clearLeftovers, refuseToWrap, wrapFolder, type WrapPlan } from './wrap-folder.ts';
