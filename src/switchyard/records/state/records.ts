import type { HostHeader } from '../config/definition.ts';

/**
 * The content of `state.json`, with its field names. Unknown fields are kept, because another version may have written
 * them.
 */
export interface State {
  version: number;
  /** By resolved root path. */
  projects: Record<string, ProjectRecord>;
  /** Names under which agents reach a project, with its root. */
  project_aliases: Record<string, string>;
  /** By port. */
  proxies: Record<string, ProxyRecord>;
  /** The process that serves the checkouts of this home, if any. */
  forwarder?: DaemonRecord;
}

export interface ProjectRecord {
  /** The name on this machine, unique in the home. */
  name: string;
  slug: string;
  /** Missing if the name is the one in `switchyard.toml`. */
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

/** The name of a project on this machine only. */
export interface LocalName {
  name: string;
  /** The name in `switchyard.toml` at that time. */
  written: string;
  /** Whether the user chose it. A name that we chose lasts until the file changes. */
  chosen: boolean;
}

export interface WorktreeRecord {
  branch: string;
  slug: string;
  path: string;
  updated_at: string;
  /** Whether another tool created it. */
  adopted?: boolean;
}

/**
 * Identifies a process. A pid alone does not, because it is reused. All fields except the pid may be missing (older
 * files); then nothing is signalled.
 */
export interface ProcessRecord {
  /** Null between the decision to start it and its start. */
  pid: number | null;
  pgid?: number | null;
  /** The kernel's start time, in its own unit. */
  process_started_at?: number | null;
  /** The boot in which pid and start time are valid. */
  boot_id?: string | null;
  /** The PID namespace in which they are valid: a container that shares the home has its own. */
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
  /** Missing in records of older versions, which means `preserve`. */
  host_header?: HostHeader | null;
  hostname: string;
  url: string;
  worktree: string;
  /** The working directory of its command. Missing in older files, where it is the worktree. */
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
  /** The branch that had the port before, if it was the same service. */
  before?: string;
  /** The pid of the forwarder at that time; it may have been restarted since. */
  pid: number | null;
  log_file: string;
  started_at: string;
}

/** A process of our own that keeps running when the command ends. */
export interface DaemonRecord extends ProcessRecord {
  host: string;
  port: number;
  /** The version it was started from; null if unknown. Missing in older files. */
  version?: string | null;
  build?: string | null;
}

export type ProxyRecord = DaemonRecord;

/** A time in the format of the records: UTC, whole seconds, `2026-01-31T12:00:00+00:00`. */
export function timestamp(time: Date = new Date()): string {
  return `${time.toISOString().slice(0, 19)}+00:00`;
}
