export { instructionsFor } from '../descriptions/instructions.ts';
export { knownAs } from '../descriptions/known.ts';
export { lookAt } from './folder-state.ts';
export { CONFIG_FILE, INSTRUCTIONS_FILE, scriptName } from './names.ts';
export { entryOf, outerConfig } from './outer-config.ts';
export { wrapperScript, type WrapperLaunch } from './script.ts';
export { refuseToUnwrap, unwrapFolder } from './unwrap-folder.ts';
export { clearLeftovers, refuseToWrap, wrapFolder, type WrapPlan } from './wrap-folder.ts';
