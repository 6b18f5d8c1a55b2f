import type { HostHeader } from '../config/definition.ts';

/**
 * What `state.json` holds. Field names are those of the file. Whatever else stands in it is kept: another version may
 * have written it.
 */
export interface State {
  version: number;
  /** By the resolved root path. */
  projects: Record<string, ProjectRecord>;
  /** Names under which agents reach a project, to its root. */
  project_aliases: Record<string, string>;
  /** By the port. */
  proxies: Record<string, ProxyRecord>;
  /** The one process that serves the checkouts of this home, while there is one. */
  forwarder?: DaemonRecord;
}

export interface ProjectRecord {
  /** On this machine. No other project of the home has the same. */
  name: string;
  slug: string;
  /** Missing where the name is the one in `switchyard.toml`. */
  local_name?: LocalName;
  root: string;
  config: string;
  created_at: string;
  updated_at: string;
  /** By the slug of the branch. */
  worktrees: Record<string, WorktreeRecord>;
  /** By `serviceKey`. */
  services: Record<string, ServiceRecord>;
  /** By `serviceKey`. */
  checkouts: Record<string, CheckoutRecord>;
}

/** A name that a project has on this machine only. */
export interface LocalName {
  name: string;
  /** The name in `switchyard.toml` at that time. */
  written: string;
  /** Whether a person chose it. One that we chose lasts as long as the file says the same. */
  chosen: boolean;
}

export interface WorktreeRecord {
  branch: string;
  slug: string;
  path: string;
  updated_at: string;
  /** Whether it was made by another tool, and only found by us. */
  adopted?: boolean;
}

/**
 * How a process is known again. A pid alone is nobody's name: the kernel gives it to the next one. Readers tolerate that
 * all but the pid are missing (older files); then nothing is signalled.
 */
export interface ProcessRecord {
  /** Null from the moment we decide to start it until it is started. */
  pid: number | null;
  pgid?: number | null;
  /** The kernel's start time, in its own unit. */
  process_started_at?: number | null;
  /** The boot within which pid and start time mean anything. */
  boot_id?: string | null;
  /** The view of processes in which they mean anything: a container that shares the home has its own. */
  pid_namespace?: string | null;
  /** A random value in its environment, which all its descendants inherit. */
  cookie?: string;
  argv?: readonly string[];
  started_at: string;
  log_file: string;
}

export interface ServiceRecord extends ProcessRecord {
  project: string;
  project_slug: string;
  project_root: string;
  branch: string;
  branch_slug: string;
  service: string;
  /** The rendered command line, quoted for a shell. */
  command: string;
  desired_port: number | null;
  port: number;
  backend_host: string;
  /** Records of older versions have none, which means `preserve`. */
  host_header?: HostHeader | null;
  hostname: string;
  url: string;
  worktree: string;
  /** Where its command runs, in the worktree. Older files have none: there it is the worktree itself. */
  cwd?: string;
}

export interface CheckoutRecord {
  project: string;
  project_root: string;
  branch: string;
  branch_slug: string;
  service: string;
  listen_host: string;
  listen_port: number;
  target_host: string;
  target_port: number;
  /** The branch that had the port before, if it was of the same service. */
  before?: string;
  /** Of the forwarder at the time; it may have been restarted since. */
  pid: number | null;
  log_file: string;
  started_at: string;
}

/** A process of our own that goes on when the command has ended. */
export interface DaemonRecord extends ProcessRecord {
  host: string;
  port: number;
  /** What it was started from; null where that is not known any more. Older files have none. */
  version?: string | null;
  build?: string | null;
}

export type ProxyRecord = DaemonRecord;
