import { homeDirectory } from '../shared/paths.ts';
import type { NameRule } from './name-rule.ts';

/** A program that uses MCP servers: where it stores them, and how it writes them. */
export interface Host {
  /** Its name on the command line. */
  readonly name: HostName;
  /** Other names for it on the command line. */
  readonly aliases: readonly string[];
  /** Its name in texts. */
  readonly title: string;
  readonly format: Format;
  /** The keys that lead to its servers. */
  readonly keyPath: readonly string[];
  /** The files that may contain them, the usual one first. */
  readonly files: {
    readonly user: (where: HostEnvironment) => readonly string[];
    /** Undefined if it has none. */
    readonly project?: (where: HostEnvironment) => readonly string[];
  };
  /** Files and directories of which at least one exists once the host has run on this machine. */
  readonly traces: (where: HostEnvironment) => readonly string[];
  /** The command that starts it, if it is on the PATH. */
  readonly program: string;
  /** Members of an entry that starts a program, besides the command. */
  readonly stdio: Readonly<Record<string, unknown>>;
  /** Whether `command` is a list that includes the arguments, and variables are in `environment`. Default false. */
  readonly commandList?: true;
  /** The form of an entry for a remote server; undefined if the host has none. */
  readonly http: HttpShape | undefined;
  /** The references to the environment that it fills in. */
  readonly references: References;
  /** Which part of the host's environment is passed to a program that it starts. */
  readonly envInheritance: EnvInheritance;
  /** The unit of `timeout` in an entry. Default: milliseconds. */
  readonly timeoutUnit?: 'seconds';
  readonly names: NameRule;
  /** What the user has to do before a new entry is used. */
  readonly next: { readonly user: string; readonly project?: string };
  /** The keys of a list that, if present, must name a server for it to be used. */
  readonly allowList?: readonly string[];
  /** A setting in its file that prevents a new server from being used, as a sentence; `document` is the parsed file. */
  readonly obstacle?: (document: unknown, name: string) => string | undefined;
}

export type HostName =
  | 'claude-code'
  | 'claude-desktop'
  | 'cursor'
  | 'vscode'
  | 'windsurf'
  | 'zed'
  | 'cline'
  | 'gemini'
  | 'codex'
  | 'copilot'
  | 'opencode';

/** Whether an entry applies everywhere or in one project. */
export type Scope = 'user' | 'project';

/**
 * The syntax that the host itself accepts: `jsonc` has comments and trailing commas, the third format only comments.
 * `jsonc` is also used if nobody knows whether a host accepts comments: we never add anything but plain JSON.
 */
export type Format = 'json' | 'jsonc' | 'jsonc-no-trailing-commas' | 'toml';

export interface HttpShape {
  /** The key of the address. */
  readonly address: 'url' | 'httpUrl' | 'serverUrl';
  /** Additional members of such an entry. */
  readonly constant: Readonly<Record<string, unknown>>;
  /** Codex has the name of the variable; the others have a header with a reference. */
  readonly bearer: 'header' | 'variable-name';
  /** The meaning of an address without a type. Default: the host detects it. */
  readonly untyped?: 'sse';
}

/**
 * - `none`: every string is literal.
 * - `shell`: `${NAME}` and `${NAME:-default}`.
 * - `shell-and-bare`: also `$NAME`, and on Windows `%NAME%`.
 * - `editor`: `${env:NAME}`, `${input:id}` and words such as `${workspaceFolder}`.
 * - `braces`: `{env:NAME}` and `{file:path}`.
 */
export type References = 'none' | 'shell' | 'shell-and-bare' | 'editor' | 'braces';

/**
 * - `everything`
 * - `in-env`: only a few, or all except those that look like a secret by name or value; others are passed as references
 *   in `env`.
 * - `listed`: only a few, and those listed in `env_vars`.
 * - `little`: only a few, and no way to add more except by writing their values to `env`.
 */
export type EnvInheritance = 'everything' | 'in-env' | 'listed' | 'little';

/** Everything that paths are computed from. */
export interface HostEnvironment {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The project, if an entry is for one. */
  readonly cwd: string;
}

/** The environment of this machine. */
export function hostEnvironment({ cwd, env }: Pick<HostEnvironment, 'cwd' | 'env'>): HostEnvironment {
  return { platform: process.platform, home: homeDirectory(), env, cwd };
}
