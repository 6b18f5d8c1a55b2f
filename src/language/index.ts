export { purposeOf } from './descriptions/known.ts';
export { meantModel, type MeantModel } from './meant-model.ts';
export { languageSource, type LanguageSource, type SpokenServer } from './source.ts';
export { NATURAL_LANGUAGE } from './tool-name.ts';
export { isWrapper } from './wrap/names.ts';
