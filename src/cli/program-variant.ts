import type { ProgramVariant } from '../config/index.ts';

/** One of the programs that this command line can be. */
export interface CliVariant {
  readonly program: 'switchboard' | 'mcp-proxy-server' | 'mcpmux';
  /** What it expects of a configuration. Default: as `switchboard`. */
  readonly configVariant?: ProgramVariant;
  /** Whether its servers are there only while they run, and only a reload brings them back. Default false. */
  readonly volatile?: boolean;
  /** How it serves clients that connect. Default: it serves only the host that started it. */
  readonly listens?: ListenSettings;
  /** What it does, in one line. */
  readonly motto: string;
  /** What else to know of it, in paragraphs. Default none. */
  readonly about?: readonly string[];
  /** How servers come to it where not through the configuration, as a sentence. Default: they do not. */
  readonly servers?: string;
  /** The command by which a host starts it. */
  readonly launch: string;
  /** Variables of the environment that it reads and `switchboard` does not. */
  readonly variables?: VariantVariables;
  /** All variables of the environment that mean something to it, and what they mean. */
  readonly environment: readonly (readonly [name: string, meaning: string])[];
}

export interface ListenSettings {
  /** The variable that sets the port and enables HTTP without a flag. Default none. */
  readonly portVariable?: string;
  /** The variable that, set to 1, keeps it running when the last client has left. Default: it always goes on. */
  readonly stayVariable?: string;
}

export interface VariantVariables {
  /** Names the configuration file, where no flag does. */
  readonly config: string;
  /** `debug` or `info`, where neither a flag nor SWITCHBOARD_LOG_LEVEL says more. */
  readonly logLevel: string;
  /** Names the directory of the log file, before the configuration. */
  readonly logDirectory: string;
}

/** The row of the help about the directory that every program of ours keeps things in. */
export const STATE_ROW: readonly [name: string, meaning: string] = [
  'SWITCHBOARD_STATE_DIR',
  'directory for state between runs; default $XDG_STATE_HOME/switchboard or\n' +
    '~/.local/state/switchboard, on macOS ~/Library/Application Support/switchboard, on Windows\n' +
    '%LOCALAPPDATA%\\switchboard',
];

/** The row of the help about projects that need not be allowed. */
export const ALLOW_ROW: readonly [name: string, meaning: string] = [
  'SWITCHBOARD_ALLOW_PROJECT',
  '1: use the files of every project without asking',
];

/** Whether it has a configuration only where one is named on the command line. */
export function requiresConfigFlag({ configVariant: configFace }: CliVariant): boolean {
  return configFace?.findsConfig === false;
}

/** Whether it reads a person's own configuration and that of a project; the other programs have one. */
export function hasLayers({ configVariant: configFace }: CliVariant): boolean {
  return configFace === undefined;
}

/**
 * Replaces placeholders in a text: `$0` is the program, `$CONFIG` for the usual name of its configuration, and `$DEFAULT` for
 * what it reads where none is named. `$LAYERS[…]` is only for a program that has layers.
 */
export function expandPlaceholders(variant: CliVariant, text: string): string {
  return text
    .replaceAll(/\$LAYERS\[([^\]]*)\]/g, (_all, words: string) => (hasLayers(variant) ? words : ''))
    .replaceAll('$0', variant.program)
    .replaceAll('$DEFAULT', defaultConfig(variant))
    .replaceAll('$CONFIG', variant.configVariant?.configFile ?? USUAL_CONFIG);
}

function defaultConfig(variant: CliVariant): string {
  if (requiresConfigFlag(variant)) return 'none';
  return variant.configVariant?.configFile === undefined ? "your own and the project's" : './$CONFIG';
}

const USUAL_CONFIG = 'switchboard.config.json';
