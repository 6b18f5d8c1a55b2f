/** What a `switchyard.toml` says, checked and with its defaults. */
export interface ProjectConfig {
  /** The directory that holds the file, without symbolic links. */
  readonly root: string;
  /** The file itself. */
  readonly file: string;
  /** What the project is called on this machine. */
  readonly name: string;
  readonly slug: string;
  /** The name in the file, where this machine uses another one. */
  readonly writtenName?: string;
  /** Where worktrees go, as an absolute path; undefined means the state home. */
  readonly worktreeRoot: string | undefined;
  readonly env: { readonly link: readonly string[]; readonly copy: readonly string[] };
  readonly proxy: { readonly host: LoopbackHost; readonly port: number; readonly tld: string };
  /** Both ends count. */
  readonly ports: { readonly start: number; readonly end: number };
  /** In the order of the file. */
  readonly services: readonly ServiceDefinition[];
  readonly profiles: readonly ProfileDefinition[];
  /** What is written there and does not mean what it seems to. */
  readonly warnings: readonly YardConfigWarning[];
}

export interface ServiceDefinition {
  /** Its slug, by which everything else names it. */
  readonly name: string;
  /** The template of its command line. */
  readonly command: string;
  /** Where it runs, as a path below the worktree; empty for its top. */
  readonly cwd: string;
  /** The canonical port, which only a checkout takes. */
  readonly port: number | undefined;
  readonly host: LoopbackHost;
  /** A path or a URL to ask once the port accepts. */
  readonly health: string | undefined;
  /** How long `up` waits for it, in seconds; 0 for one that listens nowhere, such as a worker of a queue. */
  readonly readyTimeout: number;
  /** Slugs of services that have to be ready before. */
  readonly dependsOn: readonly string[];
  readonly hostHeader: HostHeader;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Which Host header a service gets through its named address: the browser's own, or, for servers that refuse names they
 * do not know, its loopback address and port.
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
  /** `ports`: two services have one canonical port, which is fine where they take turns. */
  readonly kind: 'unknown key' | 'shell syntax' | 'ports';
  /** For example `services.web.comand`. */
  readonly key: string;
  readonly line: number;
  /** A sentence. */
  readonly message: string;
}
