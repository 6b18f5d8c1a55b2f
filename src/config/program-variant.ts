import { DEFAULTS } from './defaults.ts';
import type { Management } from './management.ts';

/** What one of our programs expects from a configuration. */
export interface ProgramVariant {
  /** Different defaults. */
  readonly defaults: {
    readonly exposure: 'suite' | 'flat';
    readonly naming: 'prefixed' | 'plain';
    /** Default: off. If turned on, a person is asked and nothing is written. */
    readonly management?: Management | undefined;
  };
  /** Its name on a command line. Default `switchboard`. */
  readonly program?: string | undefined;
  /** The file used if none is named; it must exist. Default: the first `switchboard.config.*`, or none. */
  readonly configFile?: string | undefined;
  /** Whether that file may be missing because it is about to be created. Default false. */
  readonly mayBeMissing?: boolean | undefined;
  /** Whether a configuration is used without being named. Default true. */
  readonly findsConfig?: boolean | undefined;
  /** What to do if that file is missing, as a sentence. */
  readonly configHint?: string | undefined;
  /** Whether the root `.mcp.json` is read, and others are searched for if discoverGlobs is not set. Default true. */
  readonly discovers?: boolean | undefined;
}

/** The program `switchboard`. */
export const SWITCHBOARD: ProgramVariant = {
  defaults: { exposure: DEFAULTS.exposure, naming: DEFAULTS.naming },
};
