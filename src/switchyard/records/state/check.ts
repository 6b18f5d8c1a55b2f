import { isObject } from '../../../shared/is-object.ts';
import { slug } from '../names.ts';
import type { State } from './records.ts';

export interface CheckedState {
  readonly state: State;
  /** What was ignored, as sentences. */
  readonly warnings: readonly string[];
}

/**
 * Validates a parsed state: missing maps are filled in, records with a field of a wrong type are dropped, everything
 * else stays, known or not. Throws if it is not an object.
 */
export function checkState(value: unknown): CheckedState {
  if (!isObject(value)) throw new Error('it is not a JSON object');
  const warnings: string[] = [];
  const version = Number.isSafeInteger(value.version) ? Math.max(1, value.version as number) : 1;
  const state: UnknownRecord = { ...value, version };
  state.projects = filterRecords(value.projects, 'projects', warnings, checkProject(warnings));
  state.project_aliases = filterRecords(value.project_aliases, 'project_aliases', warnings, (root) =>
    text(root) ? undefined : 'is not a path',
  );
  state.proxies = filterRecords(value.proxies, 'proxies', warnings, fieldsOf(DAEMON));
  const fault = value.forwarder === undefined ? undefined : fieldsOf(DAEMON)(value.forwarder);
  if (fault !== undefined) {
    warnings.push(`forwarder ${fault} and was ignored.`);
    delete state.forwarder;
  }
  return { state: state as unknown as State, warnings };
}

type UnknownRecord = Record<string, unknown>;
/** Returns what is wrong with a record, or undefined. */
type Check = (record: unknown, key: string) => string | undefined;

/** The valid records of a map. */
function filterRecords(map: unknown, where: string, warnings: string[], check: Check): UnknownRecord {
  // Without a prototype, so that a branch called "constructor" is not found.
  const kept = Object.create(null) as UnknownRecord;
  if (map !== undefined && !isObject(map)) warnings.push(`${where} is not an object and was ignored.`);
  if (!isObject(map)) return kept;
  for (const [key, record] of Object.entries(map)) {
    const fault = check(record, key);
    if (fault === undefined) kept[key] = record;
    else warnings.push(`${where}[${JSON.stringify(key)}] ${fault} and was ignored.`);
  }
  return kept;
}

function checkProject(warnings: string[]): Check {
  return (project, root) => {
    if (isObject(project)) {
      const name = project.name;
      // Fills in missing fields that are known.
      Object.assign(
        project,
        { root, slug: slug(String(name)), created_at: '', updated_at: '' },
        { ...project },
      );
    }
    const fault = fieldsOf(PROJECT)(project);
    if (fault !== undefined || !isObject(project)) return fault;
    const where = `projects[${JSON.stringify(root)}]`;
    project.worktrees = filterRecords(project.worktrees, `${where}.worktrees`, warnings, fieldsOf(WORKTREE));
    project.services = filterRecords(project.services, `${where}.services`, warnings, fieldsOf(SERVICE));
    project.checkouts = filterRecords(project.checkouts, `${where}.checkouts`, warnings, fieldsOf(CHECKOUT));
    return undefined;
  };
}

type Fields = Readonly<Record<string, (value: unknown) => boolean>>;

function fieldsOf(fields: Fields): (record: unknown) => string | undefined {
  return (record) => {
    if (!isObject(record)) return 'is not an object';
    const bad = Object.entries(fields).find(([field, isValid]) => !isValid(record[field]));
    return bad === undefined ? undefined : `has a missing or invalid "${bad[0]}"`;
  };
}

const text = (value: unknown): boolean => typeof value === 'string';
const whole = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0;
const port = (value: unknown): boolean => whole(value) && (value as number) <= 65_535;
const texts = (value: unknown): boolean => Array.isArray(value) && value.every(text);
const flag = (value: unknown): boolean => typeof value === 'boolean';
const finite = (value: unknown): boolean => Number.isFinite(value);
const orNone =
  (check: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === undefined || value === null || check(value);

const LOCAL_NAME: Fields = { name: text, written: text, chosen: flag };

const PROJECT: Fields = {
  name: text,
  slug: text,
  local_name: orNone((value) => fieldsOf(LOCAL_NAME)(value) === undefined),
  root: text,
  config: text,
  created_at: text,
  updated_at: text,
};

const WORKTREE: Fields = { branch: text, slug: text, path: text, updated_at: text, adopted: orNone(flag) };

const PROCESS: Fields = {
  // Null while it is being started.
  pid: (value) => value === null || whole(value),
  pgid: orNone(whole),
  process_started_at: orNone(finite),
  boot_id: orNone(text),
  pid_namespace: orNone(text),
  cookie: orNone(text),
  argv: orNone(texts),
  started_at: text,
  log_file: text,
};

const SERVICE: Fields = {
  ...PROCESS,
  project: text,
  project_slug: text,
  project_root: text,
  branch: text,
  branch_slug: text,
  service: text,
  command: text,
  desired_port: orNone(port),
  port,
  backend_host: text,
  host_header: orNone(text),
  hostname: text,
  url: text,
  worktree: text,
  cwd: orNone(text),
};

const CHECKOUT: Fields = {
  project: text,
  // Missing in older files; the containing project supplies it.
  project_root: orNone(text),
  branch: text,
  branch_slug: text,
  service: text,
  listen_host: text,
  listen_port: port,
  target_host: text,
  target_port: port,
  pid: orNone(whole),
  log_file: text,
  started_at: text,
};

const DAEMON: Fields = { ...PROCESS, host: text, port, version: orNone(text), build: orNone(text) };
