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
    readonly user: (where: Surroundings) => readonly string[];
    /** Undefined where it has none. */
    readonly project?: (where: Surroundings) => readonly string[];
  };
  /** Files and directories of which at least one is there once it has run on this machine. */
  readonly traces: (where: Surroundings) => readonly string[];
  /** What an entry that starts a program says besides the command. */
  readonly stdio: Readonly<Record<string, string>>;
  /** How an entry for a server that runs elsewhere is written; undefined where there is no such entry. */
  readonly http: HttpShape | undefined;
  /** The references to the environment that it fills in. */
  readonly references: References;
  /** What of the host's environment reaches a program that it starts. */
  readonly passes: Passing;
  readonly names: NameRule;
  /** What the person does next, so that a new entry is used. */
  readonly next: { readonly user: string; readonly project?: string };
  /** What in its file keeps a new server from being used, as a sentence; `document` is the parsed file. */
  readonly obstacle?: (document: unknown, name: string) => string | undefined;
}

export type HostName =
  'claude-code' | 'claude-desktop' | 'cursor' | 'vscode' | 'windsurf' | 'gemini' | 'codex';

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
  /** What else stands in such an entry. */
  readonly constant: Readonly<Record<string, string>>;
  /** Codex names the variable itself; the others take a header with a reference. */
  readonly bearer: 'header' | 'variable-name';
}

/**
 * - `none`: every text is meant as it stands.
 * - `shell`: `${NAME}` and `${NAME:-default}`.
 * - `shell-and-bare`: also `$NAME`, and on Windows `%NAME%`.
 * - `editor`: `${env:NAME}`, `${input:id}` and words such as `${workspaceFolder}`.
 */
export type References = 'none' | 'shell' | 'shell-and-bare' | 'editor';

/**
 * - `everything`
 * - `all-but-secrets`: variables whose names look like secrets must be named in `env`.
 * - `listed`: only a few, and those that `env_vars` lists.
 * - `little`: only a few, and no way to name more but to write their values into `env`.
 */
export type Passing = 'everything' | 'all-but-secrets' | 'listed' | 'little';

/** What paths are computed from; nothing else is asked. */
export interface Surroundings {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The project, where an entry is for one. */
  readonly cwd: string;
}
