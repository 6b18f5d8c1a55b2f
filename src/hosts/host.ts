import { homeDirectory } from '../shared/paths.ts';
import type { NameRule } from './name-rule.ts';

/** What is known of a program that uses MCP servers: where it keeps them, and how it writes them. */
export interface Host {
  /** As it is named on the command line. */
  readonly name: HostName;
  /** Other words for it there. */
  readonly aliases: readonly string[];
  /** As people call it. */
  readonly title: string;
  readonly format: Format;
  /** The keys that lead to its servers. */
  readonly keyPath: readonly string[];
  /** The files it may keep them in, the usual one first. */
  readonly files: {
    readonly user: (where: HostEnvironment) => readonly string[];
    /** Undefined where it has none. */
    readonly project?: (where: HostEnvironment) => readonly string[];
  };
  /** Files and directories of which at least one is there once it has run on this machine. */
  readonly traces: (where: HostEnvironment) => readonly string[];
  /** The command that starts it, where that is on the PATH. */
  readonly program: string;
  /** What an entry that starts a program says besides the command. */
  readonly stdio: Readonly<Record<string, unknown>>;
  /** Whether `command` is a list that holds the arguments, too, and variables are called `environment`. Default false. */
  readonly commandList?: true;
  /** How an entry for a server that runs elsewhere is written; undefined where there is no such entry. */
  readonly http: HttpShape | undefined;
  /** The references to the environment that it fills in. */
  readonly references: References;
  /** What of the host's environment reaches a program that it starts. */
  readonly envInheritance: EnvInheritance;
  /** What a `timeout` in an entry is counted in. Default milliseconds. */
  readonly timeoutUnit?: 'seconds';
  readonly names: NameRule;
  /** What the person does next, so that a new entry is used. */
  readonly next: { readonly user: string; readonly project?: string };
  /** The keys of a list that, where it is there, must name a server for it to be used. */
  readonly allowList?: readonly string[];
  /** What in its file keeps a new server from being used, as a sentence; `document` is the parsed file. */
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

/** Whether an entry holds everywhere or in one project. */
export type Scope = 'user' | 'project';

/**
 * How much of a file the host itself understands: `jsonc` has comments and trailing commas, the third comments only.
 * Where it is not known whether a host takes comments, it is `jsonc`: nothing that is no plain JSON is ever added.
 */
export type Format = 'json' | 'jsonc' | 'jsonc-no-trailing-commas' | 'toml';

export interface HttpShape {
  /** The key of the address. */
  readonly address: 'url' | 'httpUrl' | 'serverUrl';
  /** Additional members of such an entry. */
  readonly constant: Readonly<Record<string, unknown>>;
  /** Codex names the variable itself; the others take a header with a reference. */
  readonly bearer: 'header' | 'variable-name';
  /** What an address without a type means. Default: the host finds out. */
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
 * - `in-env`: only a few, or all but what looks like a secret by name or value; others are passed on as references in `env`.
 * - `listed`: only a few, and those that `env_vars` lists.
 * - `little`: only a few, and no way to name more but to write their values into `env`.
 */
export type EnvInheritance = 'everything' | 'in-env' | 'listed' | 'little';

/** What paths are computed from; nothing else is asked. */
export interface HostEnvironment {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The project, where an entry is for one. */
  readonly cwd: string;
}

/** The environment of this machine. */
export function hostEnvironment({ cwd, env }: Pick<HostEnvironment, 'cwd' | 'env'>): HostEnvironment {
  return { platform: process.platform, home: homeDirectory(), env, cwd };
}
