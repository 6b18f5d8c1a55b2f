export { purposeOf } from './descriptions/known.ts';
export { resolveModel, type ResolvedModel } from './resolve-model.ts';
export { languageSource, type LanguageSource } from './source.ts';
export { NATURAL_LANGUAGE } from './tool-name.ts';
export { isWrapper } from './wrap/names.ts';
