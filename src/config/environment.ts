import { matchGlob } from '../shared/glob.ts';
import type { Environment } from './interpolate.ts';

/** What a server's definition says about its environment. */
export interface EnvironmentDefinition {
  /** Variables set by the definition; they take precedence over inherited ones. */
  readonly env: Readonly<Record<string, string>>;
  /**
   * Which of our variables it inherits: all, only NEEDED_BY_EVERY_PROCESS, or also those whose name matches one of the
   * patterns.
   */
  readonly inheritEnv: boolean | readonly string[];
}

/** Without these, a program does not find its interpreter, home, language or temporary files. */
const NEEDED_BY_EVERY_PROCESS = {
  posix: ['PATH', 'HOME', 'TMPDIR', 'LANG', 'LC_ALL', 'LC_CTYPE', 'LOGNAME', 'USER', 'SHELL', 'TERM', 'TZ'],
  windows: [
    ...[
      'PATH',
      'PATHEXT',
      'SYSTEMROOT',
      'SYSTEMDRIVE',
      'WINDIR',
      'COMSPEC',
      'TEMP',
      'TMP',
      'USERPROFILE',
      'USERNAME',
    ],
    ...[
      'HOMEDRIVE',
      'HOMEPATH',
      'APPDATA',
      'LOCALAPPDATA',
      'PROGRAMDATA',
      'PROGRAMFILES',
      'PROGRAMFILES(X86)',
    ],
    ...['PROGRAMW6432', 'PROCESSOR_ARCHITECTURE', 'NUMBER_OF_PROCESSORS', 'OS'],
  ],
};

/**
 * Variables that would give a server access to our own door. A server that needs one gets it by name, in its own env.
 */
const KEPT_BACK = new Set(['SWITCHBOARD_HTTP_TOKEN']);

/** The environment a server is started with. */
export function composeEnv(
  definition: EnvironmentDefinition,
  parentEnv: Environment,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const windows = platform === 'win32';
  // Windows does not distinguish Path from PATH. If the environment has both, it is undefined which one counts.
  const spelled = (name: string): string => (windows ? name.toUpperCase() : name);
  const explicit = new Set(Object.keys(definition.env).map(spelled));
  const inherited = inheritance(definition.inheritEnv, windows, spelled);
  const result = Object.create(null) as Record<string, string>;
  for (const [name, value] of Object.entries(parentEnv)) {
    if (KEPT_BACK.has(spelled(name))) continue;
    if (value !== undefined && !explicit.has(spelled(name)) && inherited(spelled(name))) result[name] = value;
  }
  return Object.assign(result, definition.env);
}

/** The names of the variables a server gets, sorted. Never their values. */
export function envNames(
  definition: EnvironmentDefinition,
  parentEnv: Environment,
  platform: NodeJS.Platform = process.platform,
): string[] {
  return Object.keys(composeEnv(definition, parentEnv, platform)).sort();
}

function inheritance(
  inheritEnv: boolean | readonly string[],
  windows: boolean,
  spelled: (name: string) => string,
): (name: string) => boolean {
  if (inheritEnv === true) return () => true;
  const needed = new Set(windows ? NEEDED_BY_EVERY_PROCESS.windows : NEEDED_BY_EVERY_PROCESS.posix);
  const patterns = inheritEnv === false ? [] : inheritEnv.map(spelled);
  return (name) => needed.has(name) || patterns.some((pattern) => matchGlob(pattern, name));
}
