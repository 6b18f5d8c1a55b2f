import { DEFAULTS } from './defaults.ts';
import type { ConfigInput } from './schema/config.ts';

/** How calls are recorded. */
export interface AuditSettings {
  /** Whether the arguments of calls are recorded, too. */
  readonly arguments: boolean;
  /** Names of arguments that are left out. */
  readonly redact: readonly string[];
  /** The size at which a new file is started, in bytes. */
  readonly maxBytes: number;
  /** How many files are kept. */
  readonly files: number;
}

/** The settings of the audit log; an object in the configuration turns it on. */
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
