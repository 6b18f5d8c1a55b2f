import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { isObject } from '../../../shared/is-object.ts';
import { withRegularFile } from '../../../shared/regular-file.ts';
import { removeOldDrafts } from '../../../shared/write-file.ts';
import { processStatus } from '../../../process/index.ts';
import { locateConfig, type LoadedConfig } from '../../../config/index.ts';
import { isControlGone } from './ask-gateway.ts';
import {
  STATE_FILE_VERSION,
  runDirectory,
  configIdentity,
  type StoredServerState,
  type GatewayStateFile,
} from './state-file.ts';

/** The most that is read of a state file, in bytes, and how many files are read. */
const MAX_BYTES = 1024 * 1024;
const MAX_FILES = 1000;
/** A file from elsewhere (a container, a machine with the same home) is kept for this long, in milliseconds. */
const FOREIGN_AGE = 7 * 24 * 3600 * 1000;

/** The running gateways that serve this configuration, the newest first. */
export async function runningGateways(
  stateDirectory: string,
  config: LoadedConfig,
  platform: NodeJS.Platform = process.platform,
): Promise<GatewayStateFile[]> {
  const subject = configIdentity(config);
  const found = allGateways(stateDirectory).filter((said) => isSame(said.config, subject));
  if (platform !== 'win32') return found;
  // Start times, which distinguish processes with the same pid, are unknown on this system.
  const gone = await Promise.all(
    found.map(async ({ control }) => control !== undefined && (await isControlGone(control))),
  );
  return found.filter((_, at) => gone[at] === false);
}

/**
 * The gateways that read one of these configuration files, or would if they searched again now, the newest first. A
 * project without a file is named by its directory.
 */
export function gatewaysReading(stateDirectory: string, places: readonly string[]): GatewayStateFile[] {
  return allGateways(stateDirectory).filter((said) => places.some((place) => reads(said, place)));
}

function reads({ config, files = [], search }: GatewayStateFile, place: string): boolean {
  if ([config, ...files].some((file) => isSame(file, place))) return true;
  if (search === undefined) return false;
  const { cwd, userDirectory } = search;
  if (userDirectory !== undefined && isSame(userDirectory, dirname(place))) return true;
  const { file } = locateConfig('project', { cwd, userDirectory });
  return file !== undefined && isSame(file, place);
}

/** Whether a gateway belongs to the same project, and not to another one with the same user file. */
export function isSameProject({ directory }: GatewayStateFile, config: LoadedConfig): boolean {
  return directory === undefined || isSame(directory, config.directory);
}

/** A gateway that clients reach at this port, under a matching host name; undefined if there is none. */
export function gatewayAt(
  stateDirectory: string,
  port: number,
  fits: (host: string) => boolean,
): GatewayStateFile | undefined {
  return allGateways(stateDirectory).find(({ url = '' }) => {
    if (!URL.canParse(url)) return false;
    const { hostname, port: given } = new URL(url);
    return Number(given || 80) === port && fits(hostname.replace(/^\[(.*)\]$/, '$1'));
  });
}

/** All running gateways, the newest first. Removes the files of dead ones. */
export function allGateways(stateDirectory: string): GatewayStateFile[] {
  const found: GatewayStateFile[] = [];
  for (const file of runFiles(runDirectory(stateDirectory))) {
    const said = read(file);
    if (said === undefined) continue;
    const status = processStatus(said);
    if (status === 'gone' || (status === 'unknown' && isOlder(file, FOREIGN_AGE))) remove(file);
    else if (status === 'alive') found.push(said);
  }
  return found.sort((a, b) => b.since.localeCompare(a.since));
}

/** Whether two paths lead to the same file or directory: a host may use another path than a person. */
function isSame(one: string, other: string): boolean {
  if (one === other) return true;
  try {
    return fs.realpathSync.native(one) === fs.realpathSync.native(other);
  } catch {
    return false;
  }
}

function runFiles(directory: string): string[] {
  try {
    if (!fs.lstatSync(directory).isDirectory()) return [];
    removeOldDrafts(directory);
    const names = fs.readdirSync(directory).filter((name) => /^\d+\.json$/.test(name));
    return names.slice(0, MAX_FILES).map((name) => join(directory, name));
  } catch {
    // No gateway has ever written there.
    return [];
  }
}

/** Undefined for anything that a gateway of this version did not write. */
function read(file: string): GatewayStateFile | undefined {
  try {
    const value: unknown = JSON.parse(withRegularFile(file, ({ read }) => read(MAX_BYTES).toString('utf8')));
    return isRunFile(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isOlder(file: string, age: number): boolean {
  const written = fs.lstatSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
  return Date.now() - written > age;
}

/** Also removes its socket: the one beside it, whatever the file says. */
function remove(file: string): void {
  try {
    fs.rmSync(file, { force: true });
    fs.rmSync(file.replace(/json$/, 'sock'), { force: true });
  } catch {
    // It will be ignored anyway.
  }
}

function isRunFile(value: unknown): value is GatewayStateFile {
  if (!isObject(value) || value.version !== STATE_FILE_VERSION || !isObject(value.servers)) return false;
  const { pid, startTime, place, program, since, config, url, servers, added } = value;
  const { directory = '', files = [], search = {}, control } = value;
  return (
    Number.isSafeInteger(pid) &&
    Number(pid) > 0 &&
    typeof startTime === 'number' &&
    [place, program, since, config, url ?? '', directory].every((text) => typeof text === 'string') &&
    Array.isArray(files) &&
    files.every((file) => typeof file === 'string') &&
    isObject(search) &&
    Object.values(search).every((text) => typeof text === 'string') &&
    (control === undefined || isAddress(control)) &&
    Array.isArray(added) &&
    added.every((name) => typeof name === 'string') &&
    Object.values(servers).every(isState)
  );
}

function isAddress(value: unknown): boolean {
  return isObject(value) && typeof value.path === 'string' && typeof value.token === 'string';
}

function isState(value: unknown): value is StoredServerState {
  if (!isObject(value)) return false;
  switch (value.kind) {
    case 'idle':
    case 'starting':
    case 'stopped':
      return true;
    case 'running':
      return typeof value.since === 'string' && (value.pid === null || typeof value.pid === 'number');
    case 'crashed':
      return typeof value.reason === 'string' && typeof value.at === 'string';
    case 'unusable':
      return typeof value.reason === 'string';
    default:
      return false;
  }
}
