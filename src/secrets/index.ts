export { SystemKeychain } from './system-keychain.ts';
export { SecretStore, secretNameProblem, secretValueProblem, type StoredSecret } from './secret-store.ts';
export { secretsFile } from './secrets-file.ts';
export { secretReferences } from './secret-references.ts';
export { NO_SECRETS, Secrets, type UnsetSecret } from './secrets.ts';
