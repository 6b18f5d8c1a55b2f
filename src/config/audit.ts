import { DEFAULTS } from './defaults.ts';
import type { ConfigInput } from './schema/config.ts';

/** How calls are recorded. */
export interface AuditSettings {
  /** Whether their arguments are, too. */
  readonly arguments: boolean;
  /** Names of arguments that are left out. */
  readonly redact: readonly string[];
  /** Size from which a new file is begun, in bytes. */
  readonly maxBytes: number;
  /** How many files are kept. */
  readonly files: number;
}

/** What a configuration says about it: an object turns it on. */
export function resolveAudit(given: ConfigInput['audit'] = false): false | AuditSettings {
  if (given === false) return false;
  const { arguments: shown, redact = [], maxBytes, files } = given === true ? {} : given;
  return {
    arguments: shown ?? DEFAULTS.audit.arguments,
    redact,
    maxBytes: maxBytes ?? DEFAULTS.audit.maxBytes,
    files: files ?? DEFAULTS.audit.files,
  };
}
