import type { Face } from '../config/index.ts';

/** One of the programs that this command line can be. */
export interface CliFace {
  readonly program: 'switchboard' | 'mcp-proxy-server' | 'mcpmux';
  /** What it expects of a configuration. Default: as `switchboard`. */
  readonly configFace?: Face;
  /** Whether its servers are there only while they run, and only a reload brings them back. Default false. */
  readonly volatile?: boolean;
  /** What it does, in one line. */
  readonly motto: string;
  /** The command by which a host starts it. */
  readonly launch: string;
  /** Variables of the environment that it reads and `switchboard` does not. */
  readonly variables?: FaceVariables;
  /** All variables of the environment that mean something to it, and what they mean. */
  readonly environment: readonly (readonly [name: string, meaning: string])[];
}

export interface FaceVariables {
  /** Names the configuration file, where no flag does. */
  readonly config: string;
  /** `debug` or `info`, where neither a flag nor SWITCHBOARD_LOG_LEVEL says more. */
  readonly logLevel: string;
  /** Names the directory of the log file, before the configuration. */
  readonly logDirectory: string;
}

/** A text in which `$0` stands for the program and `$CONFIG` for the usual name of its configuration. */
export function inWordsOf({ program, configFace }: CliFace, text: string): string {
  return text.replaceAll('$0', program).replaceAll('$CONFIG', configFace?.configFile ?? USUAL_CONFIG);
}

const USUAL_CONFIG = 'switchboard.config.json';
