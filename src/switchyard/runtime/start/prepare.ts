import { join } from 'node:path';
import { SERVICE_COOKIE } from '../../../process/index.ts';
import type { ProfileDefinition, ServiceDefinition } from '../../records/config/definition.ts';
import { hostName, urlOf } from '../../records/names.ts';
import type { BranchLocation } from '../../records/project/branch.ts';
import type { YardContext } from '../../records/project/context.ts';
import { joinWords } from '../../records/shell-words.ts';
import { logFileOf } from '../../records/state/home.ts';
import { placeFields } from '../../records/state/process-record.ts';
import { timestamp, type ServiceRecord } from '../../records/state/records.ts';
import { composeEnvironment } from './environment.ts';
import { withInterpreter } from './interpreter.ts';
import type { PeerService } from './peers.ts';
import type { Reservation } from './reserve.ts';
import { placeholders, renderCommand } from './template.ts';

/** A start as recorded before the process exists. */
export interface StartRecord extends ServiceRecord {
  pid: null;
  /** The profile it was started with, which a restart uses again. */
  profile: string | null;
}

/** Everything about a start except the process. */
export interface Prepared {
  readonly definition: ServiceDefinition;
  readonly record: StartRecord & { readonly cookie: string };
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Unknown placeholders. */
  readonly unknown: readonly string[];
}

export interface Preparation {
  readonly context: YardContext;
  readonly location: BranchLocation;
  readonly profile: ProfileDefinition | undefined;
  readonly reservation: Reservation;
  /** The environment of the command, copied to a plain object: every access to process.env is a native call. */
  readonly inherited: NodeJS.ProcessEnv;
  /** Services of the branch that run or are about to, including this one. */
  readonly peers: readonly PeerService[];
}

/** Fills in the command of a service, composes its environment and creates its record. No side effects. */
export function prepareService(definition: ServiceDefinition, preparation: Preparation): Prepared {
  const { context, location, profile, reservation, inherited, peers } = preparation;
  const { config, home } = context;
  const { port, cookie } = reservation;
  const { name: service, host } = definition;
  const url = serviceUrl(preparation, service);
  const values = placeholders({
    base: {
      port: String(port),
      host,
      url,
      service,
      branch: location.branch,
      branch_slug: location.slug,
      project: config.name,
      project_slug: config.slug,
    },
    profile: profile?.env ?? {},
    peers,
  });
  const rendered = renderCommand(service, definition.command, values);
  const env = composeEnvironment({
    inherited,
    profile: profile?.env ?? {},
    service: definition.env,
    peers,
    own: {
      PORT: String(port),
      HOST: host,
      CANONICAL_PORT: String(definition.port ?? port),
      SWITCHYARD: '1',
      SWITCHYARD_PROJECT: config.name,
      SWITCHYARD_PROJECT_SLUG: config.slug,
      SWITCHYARD_BRANCH: location.branch,
      SWITCHYARD_BRANCH_SLUG: location.slug,
      SWITCHYARD_SERVICE: service,
      SWITCHYARD_PORT: String(port),
      SWITCHYARD_URL: url,
      // A lost state is rebuilt from these.
      SWITCHYARD_HOME: home.root,
      SWITCHYARD_HOST_HEADER: definition.hostHeader,
      SWITCHYARD_PROJECT_ROOT: config.root,
      SWITCHYARD_WORKTREE: location.worktree,
      [SERVICE_COOKIE]: cookie,
    },
  });
  const cwd = serviceDirectory(definition, location);
  const argv = withInterpreter(rendered.argv, { cwd, path: env['PATH'] });
  const record = {
    project: config.name,
    project_slug: config.slug,
    project_root: config.root,
    branch: location.branch,
    branch_slug: location.slug,
    service,
    command: joinWords(argv),
    argv: [...argv],
    desired_port: definition.port ?? null,
    port,
    backend_host: host,
    host_header: definition.hostHeader,
    hostname: serviceHost(preparation, service),
    url,
    worktree: location.worktree,
    cwd,
    log_file: logFileOf(home, config, location.branch, `${service}.log`),
    started_at: timestamp(),
    profile: profile?.name ?? null,
    pid: null,
    ...placeFields(),
    cookie,
  };
  return { definition, record, argv, cwd, env, unknown: rendered.unknown };
}

/** The working directory of a service of this branch. */
export function serviceDirectory(
  { cwd }: ServiceDefinition,
  { worktree }: Pick<BranchLocation, 'worktree'>,
): string {
  return join(worktree, cwd);
}

type BranchScope = Pick<Preparation, 'context' | 'location'>;

export function serviceUrl(whereabouts: BranchScope, service: string): string {
  return urlOf(serviceHost(whereabouts, service), whereabouts.context.config.proxy.port);
}

function serviceHost({ context: { config }, location }: BranchScope, service: string): string {
  return hostName(service, location.branch, config.name, config.proxy.tld);
}
