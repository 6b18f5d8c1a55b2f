import { isAbsolute, relative, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { withServer } from '../../../../config/index.ts';
import {
  convertServer,
  differences,
  isNearDuplicate,
  isSameLocation,
  replaceSecrets,
  type HostServer,
  type ConvertedEntry,
  type HostEnvironment,
} from '../../../../hosts/index.ts';
import { parseJsonc } from '../../../../shared/jsonc.ts';
import { printableLine } from '../../../../shared/printable.ts';

export interface ImportOptions {
  readonly where: HostEnvironment;
  /** The directory of the configuration. */
  readonly directory: string;
  /** Names of servers in other files, with the file of each if known. */
  readonly elsewhere: ReadonlyMap<string, string | undefined>;
  /** Whether secrets become references. */
  readonly hidesSecrets: boolean;
  /** With hidden secrets: whether they go into the store of secrets instead of the environment. Default false. */
  readonly storesSecrets?: boolean | undefined;
  /** The secrets that are already stored, whose names are taken. A value is undefined if it cannot be read. */
  readonly knownSecrets?: ReadonlyMap<string, string | undefined> | undefined;
  /** Whether servers are removed from their host, so that the configuration itself must contain them. */
  readonly takesOver: boolean;
  /** Whether a server replaces an existing one that differs. Default: none does. */
  readonly replaces?: ((server: HostServer) => boolean) | undefined;
}

/** What will happen to a host's server. */
export interface PlannedServer {
  readonly server: HostServer;
  /** Its name in the configuration. */
  readonly as: string;
  /**
   * - `new`: it is written with its name.
   * - `clash`: another one has its name, so it is written with a different one.
   * - `same`: it already exists, maybe with another name.
   * - `differs`: it already exists with other settings, which stay.
   * - `updated`: it already exists, and gets the settings of the host.
   * - `unusable`: it cannot be converted.
   */
  readonly state: 'new' | 'clash' | 'same' | 'differs' | 'updated' | 'unusable';
  readonly entry: ConvertedEntry | undefined;
  /** As parts of sentences. */
  readonly notes: readonly string[];
  readonly variables: readonly NeededVariable[];
  /** The secrets to store for it. */
  readonly secrets: readonly NewSecret[];
}

/** A secret that is moved to the store. */
export interface NewSecret {
  readonly name: string;
  /** Must never be shown. */
  readonly value: string;
}

/** A variable that a server needs. */
export interface NeededVariable {
  readonly name: string;
  /** The secret that it replaces; undefined if it was already a reference. Must never be shown. */
  readonly secret?: string;
}

export interface ImportPlan {
  readonly servers: readonly PlannedServer[];
  /** The text of the configuration with the servers. */
  readonly after: string;
}

/** Whether a server is written to the configuration. */
export function isWritten({ state }: Pick<PlannedServer, 'state'>): boolean {
  return state === 'new' || state === 'clash' || state === 'updated';
}

/** Chooses the names of hosts' servers in a configuration, and writes them to its text. */
export function planImport(text: string, found: readonly HostServer[], options: ImportOptions): ImportPlan {
  const present = new Map(Object.entries(serversIn(text)));
  const variables = new Map<string, string | undefined>(options.knownSecrets ?? []);
  const servers: PlannedServer[] = [];
  let after = text;
  for (const server of found) {
    const isElsewhere = (as: string): boolean =>
      !servers.some(
        (each) => each.as === as && isWritten(each) && isSameLocation(each.server.location, server.location),
      );
    // A host that has a program twice has it twice on purpose.
    const others = new Map([...present].filter(([as]) => isElsewhere(as)));
    const planned = plan(server, { present, others }, variables, options);
    servers.push(planned);
    if (!isWritten(planned) || planned.entry === undefined) continue;
    present.set(planned.as, planned.entry);
    after = withServer(after, planned.as, planned.entry);
  }
  return { servers, after };
}

function plan(
  server: HostServer,
  {
    present,
    others,
  }: { readonly present: ReadonlyMap<string, unknown>; readonly others: ReadonlyMap<string, unknown> },
  variables: Map<string, string | undefined>,
  options: ImportOptions,
): PlannedServer {
  const { where, directory, elsewhere, hidesSecrets, takesOver, replaces = () => false } = options;
  const storesSecrets = hidesSecrets && options.storesSecrets === true;
  const converted = convertServer(server, where);
  const name = nameFor(server.name);
  if (converted.kind === 'unusable')
    return { server, as: name, state: 'unusable', entry: undefined, notes: [converted.why], ...NOTHING };
  const plain = atHome(converted.entry, directory);
  const needed: NeededVariable[] = converted.variables.map((each) => ({ name: each }));
  const secrets: NewSecret[] = [];
  const hide = (prefix: '' | 'secret:', chose: (name: string, value: string) => void): ConvertedEntry =>
    replaceSecrets(plain, name, ({ value, variable }) => {
      const chosen = freeVariable(variable, server.location.host.name, value, variables);
      variables.set(chosen, value);
      chose(chosen, value);
      return `\${${prefix}${chosen}}`;
    });
  const hidden = hide('', (chosen, secret) => {
    if (hidesSecrets && !storesSecrets) needed.push({ name: chosen, secret });
  });
  const stored = hide('secret:', (chosen, value) => {
    if (storesSecrets) secrets.push({ name: chosen, value });
  });
  const entry = storesSecrets ? stored : hidesSecrets ? hidden : plain;
  const seen = { server, entry, notes: converted.notes, variables: needed, secrets };
  if (!takesOver && elsewhere.get(name) === server.location.file)
    return {
      ...seen,
      as: name,
      state: 'same',
      notes: ['already read from there', ...converted.notes],
      ...NOTHING,
    };
  const same = (there: unknown): ConvertedEntry | undefined =>
    [plain, hidden, stored].find((own) => isSame(there, own));
  const isNear = (as: string, there: unknown): there is ConvertedEntry =>
    isEntry(there) &&
    [plain, hidden, stored].some((own) => isNearDuplicate({ name: as, entry: there }, { name, entry: own }));
  const found = (as: string, there: ConvertedEntry): PlannedServer => {
    const differ = differences(there, same(there) ?? entry);
    if (differ.length > 0 && replaces(server))
      return { ...seen, as, state: 'updated', entry: { ...ownSettings(there), ...entry } };
    const notes = [
      ...(as === name ? [] : [`exists as ${as}`]),
      ...(differ.length === 0 ? [] : [`the existing one differs in ${differ.join(', ')} and is kept`]),
    ];
    return {
      ...seen,
      as,
      state: differ.length === 0 ? 'same' : 'differs',
      notes: [...notes, ...converted.notes],
      variables: same(there) === undefined ? [] : needed,
    };
  };
  for (const as of candidates(name, `${name}-${server.location.host.name}`, '-')) {
    const there = present.get(as);
    if (isEntry(there) && (same(there) !== undefined || isNear(as, there))) return found(as, there);
    const isFree = there === undefined && (!elsewhere.has(as) || elsewhere.get(as) === server.location.file);
    if (!isFree) continue;
    for (const [other, twin] of others) {
      // A name derived from this one was given to another server; this name is free now.
      const isMade = other.startsWith(`${name}-`);
      if (!isMade && isNear(other, twin) && twin.cwd === plain.cwd) return found(other, twin);
    }
    return { ...seen, as, state: as === name ? 'new' : 'clash' };
  }
  throw new Error('There is always one more name.');
}

/** The requirements of a server that is not written. */
const NOTHING = { variables: [], secrets: [] };

/** The preferred name, its alternative, and then that with numbers. */
function* candidates(wanted: string, instead: string, joint: string): Generator<string> {
  yield wanted;
  yield instead;
  for (let count = 2; ; count++) yield `${instead}${joint}${count}`;
}

/**
 * The entry without its directory, if that is where servers of this configuration are started anyway, and with a file
 * below it as a relative path: other users have it elsewhere.
 */
function atHome({ cwd, envFile, ...rest }: ConvertedEntry, directory: string): ConvertedEntry {
  const isHome = cwd === undefined || resolve(directory, cwd) === resolve(directory);
  const way = envFile === undefined || !isAbsolute(envFile) ? undefined : relative(directory, envFile);
  const isBelow = way !== undefined && !way.startsWith('..') && !isAbsolute(way);
  return {
    ...rest,
    ...(isHome ? {} : { cwd }),
    ...(envFile === undefined ? {} : { envFile: isBelow ? way.replaceAll('\\', '/') : envFile }),
  };
}

/** A name that can precede those of tools. Hosts allow more in their own files. */
function nameFor(name: string): string {
  const plain = name
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/__+/g, '_')
    .replace(/^-+|[-_]+$/g, '')
    .slice(0, LONGEST_NAME);
  return plain === '' ? 'server' : plain;
}

/** With a possible suffix, 64 in all. */
const LONGEST_NAME = 44;

/** A variable that is not used for another secret. */
function freeVariable(
  wanted: string,
  host: string,
  value: string,
  taken: ReadonlyMap<string, string | undefined>,
): string {
  const instead = `${wanted}_${host.toUpperCase().replaceAll('-', '_')}`;
  for (const name of candidates(wanted, instead, '_'))
    if (!taken.has(name) || taken.get(name) === value) return name;
  throw new Error('There is always one more name.');
}

/** Whether a value in our file can be compared: it may be invalid. */
export function isEntry(value: unknown): value is ConvertedEntry {
  if (typeof value !== 'object' || value === null) return false;
  const { command, url, args = [], env = {}, headers = {} } = value as Record<string, unknown>;
  const isTexts = (texts: unknown): boolean =>
    typeof texts === 'object' &&
    texts !== null &&
    Object.values(texts).every((text) => typeof text === 'string');
  return (
    (typeof command === 'string' || typeof url === 'string') &&
    Array.isArray(args) &&
    [args, env, headers].every(isTexts)
  );
}

const REACHED = ['command', 'args', 'env', 'envFile', 'cwd', 'url', 'headers', 'type', 'oauth'] as const;

/** Whether two entries reach the same server in the same way; its exposure does not matter. */
function isSame(one: unknown, other: ConvertedEntry): boolean {
  const reached = (entry: object): unknown =>
    REACHED.map((key) => {
      const value = (entry as Record<string, unknown>)[key];
      const isUsual = key === 'type' && (value === 'stdio' || value === 'auto');
      return isUsual ? undefined : value;
    });
  return typeof one === 'object' && one !== null && isDeepStrictEqual(reached(one), reached(other));
}

/** The settings of an entry in our file that do not affect how the server is reached. */
function ownSettings(entry: ConvertedEntry): object {
  const reached: readonly string[] = REACHED;
  return Object.fromEntries(Object.entries(entry).filter(([key]) => !reached.includes(key)));
}

function serversIn(text: string): Readonly<Record<string, unknown>> {
  const { mcpServers } = (parseJsonc(text) ?? {}) as { mcpServers?: Record<string, unknown> };
  return mcpServers ?? {};
}

/** A variable that servers of a configuration need. */
export interface VariableState {
  readonly name: string;
  readonly servers: readonly string[];
  /** Whether it replaces a literal secret. */
  readonly secret: boolean;
  /** Whether it is set in this environment; `other`: to a value other than the one it replaces. */
  readonly state: 'set' | 'unset' | 'other';
}

/** The variables that servers need, sorted by name. */
export function neededVariables(planned: readonly PlannedServer[], env: NodeJS.ProcessEnv): VariableState[] {
  const found = new Map<string, VariableState>();
  for (const { as, variables, state } of planned) {
    if (state === 'unusable') continue;
    for (const { name, secret } of variables) {
      const before = found.get(name);
      const value = env[name];
      const set = value === undefined ? 'unset' : secret === undefined || value === secret ? 'set' : 'other';
      found.set(name, {
        name,
        servers: [...new Set([...(before?.servers ?? []), as])],
        secret: before?.secret === true || secret !== undefined,
        state: before === undefined || before.state === 'set' ? set : before.state,
      });
    }
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What to do about variables without the right value, as lines. */
export function variablesText(variables: readonly VariableState[]): string {
  const missing = variables.filter(({ state }) => state !== 'set');
  if (missing.length === 0) return '';
  const lines = missing.map(({ name, servers, secret, state }) => {
    const from = secret ? ", whose value was in the host's file" : '';
    const now = state === 'other' ? ' (set to a different value here)' : '';
    return `  ${name}: for ${servers.map(printableLine).join(', ')}${from}${now}\n`;
  });
  return `Set these variables where the gateway is started:\n${lines.join('')}`;
}
