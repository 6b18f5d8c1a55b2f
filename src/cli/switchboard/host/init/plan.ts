import { withoutServer, withServer } from '../../../../config/index.ts';
import {
  installEntry,
  takeOver,
  type ChangedFile,
  type Entry,
  type Host,
  type HostServer,
  type Scope,
  type TakeoverPart,
} from '../../../../hosts/index.ts';
import { SwitchboardError } from '../../../../shared/errors.ts';
import { stateDirectory } from '../../../../shared/paths.ts';
import { isOurs } from '../host-entries.ts';
import type { AppliedPlans } from '../import/apply-plans.ts';
import {
  planConfigImport,
  type ConfigImport,
  type ConfigImportOptions,
  type Level,
} from '../import/import-config.ts';
import { byLocation } from '../import/takeover-plan.ts';
import { movable, YARD_CHOICE, type Choices, type ChosenServer } from './choices.ts';
import type { HostFile } from './importable-servers.ts';

/** What will change; nothing has changed yet. */
export interface InitPlan {
  readonly configs: readonly ConfigPlan[];
  readonly hosts: readonly HostPlan[];
}

/** The planned change of one of our own files. */
export interface ConfigPlan extends ConfigImport {
  readonly chosen: readonly ChosenServer[];
  readonly yard: boolean;
}

/** The planned change of a host's file. */
export interface HostPlan {
  readonly file: HostFile;
  /** Servers that are removed from it. */
  readonly moves: readonly HostServer[];
  /** Servers that stay in it. */
  readonly stays: readonly HostServer[];
  /** The name of our entry in it. */
  readonly name: string;
  /** The planned change. */
  readonly change: HostChange;
  write(): Promise<HostChange>;
}

export interface HostChange extends ChangedFile {
  /** What prevents the host from using our entry, as a sentence. */
  readonly obstacle: string | undefined;
}

export interface PlanOptions extends Omit<ConfigImportOptions, 'more'> {
  /** Where everything goes; undefined: each server where its host's file belongs. */
  readonly level: Level | undefined;
  /** The name of our entry if there is none yet. */
  readonly name: string;
  /** Creates our entry for a host, once the contents of our own files are known. */
  readonly entryMaker: (configs: readonly ConfigImport[]) => (host: Host, scope: Scope) => Entry;
}

/** Plans every change and tries it on the current texts of the files. Throws if one cannot be made. */
export async function planInit(choices: Choices, options: PlanOptions): Promise<InitPlan> {
  const configs: ConfigPlan[] = [];
  for (const level of ['user', 'project', 'explicit'] as const) {
    const chosen = choices.servers.filter(({ importable }) => (options.level ?? importable.level) === level);
    // The services of a project are useless elsewhere.
    const yard = choices.yard && (options.level === 'explicit' ? 'explicit' : 'project') === level;
    if (chosen.length === 0 && !yard) continue;
    const servers = chosen.map(({ variant }) => variant.server);
    const more = yard ? withYard : undefined;
    const insisted = chosen.filter(({ insists }) => insists).map(({ variant }) => variant.server);
    const replaces = (server: HostServer): boolean => insisted.includes(server);
    configs.push({
      ...(await planConfigImport(level, servers, { ...options, more, replaces })),
      chosen,
      yard,
    });
  }
  const entryFor = options.entryMaker(configs);
  const hosts: HostPlan[] = [];
  for (const file of choices.files) {
    const { host, scope } = file.location;
    const entry = entryFor(host, scope === 'project' ? 'project' : 'user');
    hosts.push(await planHost(file, entry, choices, options));
  }
  return { configs, hosts };
}

function withYard(text: string): string {
  return withoutServer(text, YARD_CHOICE) === text
    ? withServer(text, YARD_CHOICE, { builtin: 'switchyard' })
    : text;
}

async function planHost(
  file: HostFile,
  entry: Entry,
  choices: Choices,
  { where, level, name: usual }: PlanOptions,
): Promise<HostPlan> {
  const { location, servers, ours } = file;
  const moves = choices.beside.includes(file) ? [] : movable(file, choices.servers, level);
  const name = ours ?? usual;
  const common = { name, isOurs, stateDirectory: stateDirectory(where.env) };
  const write = async (dryRun: boolean): Promise<HostChange> => {
    if (moves.length > 0) {
      const change = await takeOver({ ...common, parts: partsOf(file, moves, entry), dryRun });
      return { ...change, obstacle: undefined };
    }
    const change = await installEntry({ ...common, location, entry, dryRun });
    if (change.kind === 'done') return change;
    throw new SwitchboardError(
      'HOST_ENTRY_TAKEN',
      `${location.host.title} already has another server named ${JSON.stringify(name)} in ${location.file}.`,
      { hint: 'Choose another name with --name, or exclude this host with --hosts.' },
    );
  };
  const stays = servers.filter((server) => !moves.includes(server));
  return { file, moves, stays, name, change: await write(true), write: () => write(false) };
}

/**
 * Our entry goes where the file's own servers are; servers that Claude Code has for one project are removed without
 * one.
 */
function partsOf(
  { location }: HostFile,
  moves: readonly HostServer[],
  entry: Entry,
): readonly [TakeoverPart, ...TakeoverPart[]] {
  const places = [...byLocation(moves)];
  const isMain = (keyPath: readonly string[]): boolean => keyPath.join('\0') === location.keyPath.join('\0');
  const own = places.find(([each]) => isMain(each.keyPath))?.[1] ?? new Map<string, unknown>();
  const others = places.filter(([each]) => !isMain(each.keyPath));
  return [
    { location, servers: own, entry },
    ...others.map(([other, servers]) => ({ location: other, servers, entry: undefined })),
  ];
}

/** The outcome of a plan. */
export type InitDone = AppliedPlans<ConfigPlan, HostPlan, HostChange>;
