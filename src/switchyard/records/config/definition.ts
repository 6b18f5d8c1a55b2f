/** The content of a `switchyard.toml`, validated and with defaults. */
export interface ProjectConfig {
  /** The directory of the file, without symbolic links. */
  readonly root: string;
  /** The file itself. */
  readonly file: string;
  /** The name of the project on this machine. */
  readonly name: string;
  readonly slug: string;
  /** The name in the file, if this machine uses another one. */
  readonly writtenName?: string;
  /** Directory for worktrees, as an absolute path; undefined means the state home. */
  readonly worktreeRoot: string | undefined;
  readonly env: { readonly link: readonly string[]; readonly copy: readonly string[] };
  readonly proxy: { readonly host: LoopbackHost; readonly port: number; readonly tld: string };
  /** Both inclusive. */
  readonly ports: { readonly start: number; readonly end: number };
  /** In the order of the file. */
  readonly services: readonly ServiceDefinition[];
  readonly profiles: readonly ProfileDefinition[];
  /** Settings that do not mean what they seem to. */
  readonly warnings: readonly YardConfigWarning[];
}

export interface ServiceDefinition {
  /** Its slug, which is used everywhere else. */
  readonly name: string;
  /** The template of its command line. */
  readonly command: string;
  /** Its working directory, relative to the worktree; empty for the top. */
  readonly cwd: string;
  /** The canonical port, used only by checkouts. */
  readonly port: number | undefined;
  readonly host: LoopbackHost;
  /** A path or URL to request once the port is open. */
  readonly health: string | undefined;
  /** How long `up` waits for it, in seconds; 0 for a service that does not listen, such as a queue worker. */
  readonly readyTimeout: number;
  /** Slugs of services that must be ready first. */
  readonly dependsOn: readonly string[];
  readonly hostHeader: HostHeader;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * The Host header a service gets through its named address: the browser's own, or, for servers that reject unknown
 * names, its loopback address and port.
 */
export type HostHeader = 'preserve' | 'rewrite';

export interface ProfileDefinition {
  readonly name: string;
  /** Slugs; empty means all. */
  readonly services: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export type LoopbackHost = '127.0.0.1' | 'localhost' | '::1';

export interface YardConfigWarning {
  /** `ports`: two services share a canonical port, which is fine if they take turns. */
  readonly kind: 'unknown key' | 'shell syntax' | 'ports';
  /** For example `services.web.comand`. */
  readonly key: string;
  readonly line: number;
  /** A sentence. */
  readonly message: string;
}
