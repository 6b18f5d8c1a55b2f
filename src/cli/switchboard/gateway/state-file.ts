import { rmSync } from 'node:fs';
import { chmod, lstat, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ownIdentity, type RecordedIdentity } from '../../../process/index.ts';
import type { ServerState } from '../../../app/index.ts';
import { remoteSecrets, type LoadedConfig, type ServerDefinition } from '../../../config/index.ts';
import { plainLine } from '../../../shared/printable.ts';
import { secretMask } from '../../../shared/secrets.ts';
import { writeFileAtomic } from '../../../shared/write-file.ts';
import type { ControlAddress } from './control-channel.ts';

/**
 * The description of a running gateway and its servers, in a file that exists as long as the gateway: `run/<pid>.json`
 * in the state directory. Only its owner can read it, and it contains no values of environment variables.
 */
export interface GatewayStateFile extends RecordedIdentity {
  readonly version: typeof STATE_FILE_VERSION;
  readonly program: string;
  /** When it started, as an ISO date. */
  readonly since: string;
  /** The configuration file or, without one, the directory: this identifies gateways. */
  readonly config: string;
  /** The directory of its project. Missing in files of older versions. */
  readonly directory?: string;
  /** All its configuration files. Default: `config`, if that is a file. */
  readonly files?: readonly string[];
  /** How it searches for them when it reloads. Default: it reads the same files again. */
  readonly search?: { readonly cwd: string; readonly userDirectory?: string | undefined };
  /** Where clients connect to it. Default: they cannot. */
  readonly url?: string;
  /** Where it accepts requests of other programs. Default: nowhere. */
  readonly control?: ControlAddress;
  readonly servers: Readonly<Record<string, StoredServerState>>;
  /** The names of servers that no file defines: they were added at run time. */
  readonly added: readonly string[];
}

/** All times are ISO dates. */
export type StoredServerState =
  | { readonly kind: 'idle' | 'starting' | 'stopped' }
  | {
      readonly kind: 'running';
      readonly pid: number | null;
      readonly since: string;
      /** Why it exposes nothing. */
      readonly problem?: string;
    }
  | { readonly kind: 'crashed'; readonly reason: string; readonly at: string }
  | { readonly kind: 'unusable'; readonly reason: string };

export interface GatewayState {
  readonly config: LoadedConfig;
  readonly program: string;
  /** Where clients connect. Default: nowhere. */
  readonly url?: string | undefined;
  /** Where other programs reach the gateway. Default: nowhere. */
  readonly control?: ControlAddress | undefined;
  readonly servers: readonly ServerState[];
}

export const STATE_FILE_VERSION = 1;
/** The longest reason, in UTF-16 code units. */
const MAX_REASON = 300;

let identity: RecordedIdentity | undefined;

/** Replaces the state file with the current state of the servers. */
export async function writeStateFile(
  stateDirectory: string,
  { config, program, url, control, servers }: GatewayState,
): Promise<void> {
  const directory = await makeRunDirectory(stateDirectory);
  identity ??= ownIdentity();
  const file = fileOf(directory);
  const definitions = new Map(config.servers.map((server) => [server.name, server]));
  const states = servers.map(
    (server) => [server.name, storedState(server, definitions.get(server.name))] as const,
  );
  const content: GatewayStateFile = {
    version: STATE_FILE_VERSION,
    ...identity,
    program,
    since: new Date(performance.timeOrigin).toISOString(),
    config: configIdentity(config),
    directory: config.directory,
    files: config.files.map(({ path }) => path),
    ...(config.search === undefined ? {} : { search: config.search }),
    ...(url === undefined ? {} : { url }),
    ...(control === undefined ? {} : { control }),
    servers: Object.fromEntries(states),
    added: servers.map(({ name }) => name).filter((name) => !definitions.has(name)),
  };
  removeAtExit(file, control);
  writeFileAtomic(file, JSON.stringify(content), { flush: 'nothing' });
}

/** Removes what this program has written. */
export async function removeStateFile(stateDirectory: string): Promise<void> {
  await rm(fileOf(runDirectory(stateDirectory)), { force: true });
}

export function runDirectory(stateDirectory: string): string {
  return join(stateDirectory, 'run');
}

export function configIdentity({ file, directory }: LoadedConfig): string {
  return file ?? directory;
}

function fileOf(directory: string): string {
  return join(directory, `${process.pid}.json`);
}

/** Creates it if necessary, accessible to its owner only. */
export async function makeRunDirectory(stateDirectory: string): Promise<string> {
  const directory = runDirectory(stateDirectory);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const found = await lstat(directory);
  if (!found.isDirectory()) throw new Error(`${directory} is not a directory`);
  // Fails if another user owns it, who could read what we write there.
  if (process.platform !== 'win32' && (found.mode & 0o077) !== 0) await chmod(directory, 0o700);
  return directory;
}

let removing = false;

/** Synchronous, for when the process exits. */
function removeAtExit(file: string, control: ControlAddress | undefined): void {
  if (removing) return;
  removing = true;
  process.on('exit', () => {
    try {
      rmSync(file, { force: true });
      if (control !== undefined && process.platform !== 'win32') rmSync(control.path, { force: true });
    } catch {
      // Readers notice that its writer has ended.
    }
  });
}

function storedState(
  { state, problem }: ServerState,
  server: ServerDefinition | undefined,
): StoredServerState {
  switch (state.kind) {
    case 'running':
      return {
        kind: 'running',
        pid: state.pid ?? null,
        since: new Date(state.since).toISOString(),
        ...(problem === undefined ? {} : { problem: cut(plainLine(problem)) }),
      };
    case 'crashed':
      return {
        kind: 'crashed',
        // If its environment is unknown, we cannot tell which part of the reason is a secret.
        reason:
          server === undefined
            ? 'see the log of its gateway'
            : cut(plainLine(secretMask(secretsOf(server))(state.error.message))),
        at: new Date(state.at).toISOString(),
      };
    case 'unusable':
      return { kind: 'unusable', reason: cut(plainLine(state.error.message)) };
    default:
      return { kind: state.kind };
  }
}

function secretsOf(server: ServerDefinition): readonly string[] {
  if (server.kind === 'builtin') return [];
  const own = server.kind === 'stdio' ? Object.values(server.env) : remoteSecrets(server);
  return [...own, ...(server.secrets ?? [])];
}

function cut(text: string): string {
  return text.length <= MAX_REASON ? text : `${text.slice(0, MAX_REASON - 1)}…`;
}
