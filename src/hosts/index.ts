export { findHost, HOSTS } from './catalog.ts';
export { readText, withFileContext, type ChangedFile, type FileChange } from './change-file.ts';
export { convertServer, type ConvertedEntry } from './convert.ts';
export { addressEntry, programEntry } from './build-entry.ts';
export { entriesOf, parseText, upsertEntry, type Entry } from './edit.ts';
export { hostEnvironment, type Host, type Scope, type HostEnvironment } from './host.ts';
export { installEntry, uninstallEntry, type EntryChange } from './install.ts';
export { differences, isNearDuplicate } from './near-duplicate.ts';
export { refuseName } from './name-rule.ts';
export { plainEntry } from './plain-entry.ts';
export { findLocation, isPresent, isSameLocation, locationOf, type HostLocation } from './location.ts';
export { readServers, type HostServer } from './read-servers.ts';
export { literalSecrets, replaceSecrets, documentSecrets } from './entry-secrets.ts';
export {
  undoTakeover,
  takeOver,
  type UndoneTakeover,
  type TakeoverResult,
  type TakeoverPart,
} from './takeover.ts';
export { deleteRecord, storedRecords, type StoredRecord } from './takeover-record.ts';
