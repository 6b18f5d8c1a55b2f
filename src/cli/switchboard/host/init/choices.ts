import { relative, resolve } from 'node:path';
import {
  findHost,
  literalSecrets,
  plainEntry,
  type HostServer,
  type HostEnvironment,
} from '../../../../hosts/index.ts';
import { didYouMean } from '../../../../shared/nearest.ts';
import { usage, type ParsedArguments } from '../../../kit/arguments.ts';
import { counted } from '../../../kit/text.ts';
import { isEntry } from '../import/import-plan.ts';
import { levelOf, type Level } from '../import/import-config.ts';
import { levelIn, secretsIn } from '../import/import-job.ts';
import { entryText } from '../without-secrets.ts';
import type { Prompter, Choice } from '../../../kit/prompter.ts';
import {
  isOwnHere,
  type FoundServers,
  type HostFile,
  type ImportableServer,
  type EntryVariant,
} from './importable-servers.ts';

/** What the user has chosen. */
export interface Choices {
  readonly servers: readonly ChosenServer[];
  /** The files that get our entry: those of hosts, and team files that were named. */
  readonly files: readonly HostFile[];
  /** Those of them whose servers stay in the file, next to our entry. */
  readonly beside: readonly HostFile[];
  /** Whether the project's Switchyard is added. */
  readonly yard: boolean;
  /** How literal secrets are handled. */
  readonly secrets: ReturnType<typeof secretsIn>;
  /** Whether the servers are started once, to count what hosts load. */
  readonly start: boolean;
}

export interface ChosenServer {
  readonly importable: ImportableServer;
  /** The variant to write. */
  readonly variant: EntryVariant;
  /** Whether the user chose it, so that it also replaces the existing one in Switchboard. */
  readonly insists: boolean;
}

export interface ChooseOptions {
  readonly given: ParsedArguments;
  readonly where: HostEnvironment;
  /** Asks what the flags leave open; undefined: the defaults are used. */
  readonly prompter: Prompter | undefined;
  /** Whether there is a Switchyard to add. */
  readonly hasYard: boolean;
  /** Whether Switchboard already has a server with this name. */
  readonly isConfigured: (name: string) => boolean;
}

/** Uses the flags, then asks. Throws USAGE for a flag that names something that does not exist. */
export async function choose(found: FoundServers, options: ChooseOptions): Promise<Choices> {
  const files = await chooseFiles(found, options);
  const { importable, yard } = await chooseServers(found, files, options);
  const servers: ChosenServer[] = [];
  for (const each of importable) servers.push({ importable: each, ...(await chooseVariant(each, options)) });
  const beside = await chooseBeside(files, servers, options);
  const secrets = await chooseSecrets(servers, options);
  const start = await chooseStart(servers.length + (yard ? 1 : 0), options);
  return { servers, files, beside, yard, secrets, start };
}

/**
 * The servers of a file that move behind Switchboard unless they stay. A team's servers never move to a user file,
 * where the team would miss them, nor a user's own servers to the file of one project.
 */
export function movable(
  { servers }: HostFile,
  chosen: readonly ChosenServer[],
  level: Level | undefined,
): HostFile['servers'] {
  const taken = chosen.flatMap(({ importable }) => importable.variants.map((variant) => variant.server));
  const isKept = (server: HostServer): boolean =>
    level === undefined || level === 'explicit' || level === levelOf(server);
  return servers.filter((server) => taken.includes(server) && isKept(server));
}

/** The name of a file in lists and flags: the host, or the path of a team file. */
export function fileLabel({ location }: HostFile, where: HostEnvironment): string {
  return location.scope === 'project' ? relative(where.cwd, location.file) : location.host.name;
}

/** Does not ask if there are no secrets. */
async function chooseSecrets(
  servers: readonly ChosenServer[],
  { given, prompter }: ChooseOptions,
): Promise<Choices['secrets']> {
  const count = servers.flatMap(({ variant: { server } }) => {
    const entry = plainEntry(server.value);
    return isEntry(entry) ? literalSecrets(entry, server.name) : [];
  }).length;
  if (given.flags.has('secrets') || prompter === undefined || count === 0) return secretsIn(given);
  return prompter.one(`Where should ${counted(count, 'secret')} of these servers be stored?`, [
    { value: 'store', label: "In the system's keychain", hint: 'without a keychain, in a separate file' },
    { value: 'keep', label: 'In the configuration file', hint: 'as they are in the hosts now' },
    { value: 'env', label: 'Nowhere', hint: 'you set environment variables instead' },
  ]);
}

async function chooseFiles(
  { hosts, teamFiles }: FoundServers,
  { given, where, prompter }: ChooseOptions,
): Promise<readonly HostFile[]> {
  const words = listIn(given, 'hosts');
  if (words !== undefined) return words.map((word) => fileNamed(word, { hosts, teamFiles }, where));
  if (prompter === undefined || hosts.length + teamFiles.length === 0) return hosts;
  const choices: Choice<HostFile>[] = [
    ...hosts.map((file) => ({ value: file, label: file.location.host.title, hint: contents(file) })),
    ...teamFiles.map((file) => ({
      value: file,
      label: `${file.location.host.title} in this project: ${fileLabel(file, where)}`,
      hint: `shared with your team; ${contents(file)}`,
    })),
  ];
  return prompter.many('Which hosts should use Switchboard?', choices, hosts);
}

function fileNamed(
  word: string,
  { hosts, teamFiles }: Pick<FoundServers, 'hosts' | 'teamFiles'>,
  where: HostEnvironment,
): HostFile {
  const isPath = /[./\\]/.test(word);
  const path = resolve(where.cwd, word);
  const found = isPath
    ? teamFiles.find(({ location }) => location.file === path)
    : hosts.find(({ location }) => location.host === findHost(word));
  if (found !== undefined) return found;
  const known = [...hosts, ...teamFiles].map((file) => fileLabel(file, where));
  const guess = didYouMean(word, known);
  throw usage(
    isPath ? `No host uses ${path}.` : `${findHost(word).title} is not on this machine.`,
    guess ?? (known.length === 0 ? 'No host was found.' : `Found: ${known.join(', ')}.`),
  );
}

function contents({ servers, ours }: HostFile): string {
  const count = counted(servers.length, 'server');
  return ours === undefined ? count : `${count}, and already Switchboard`;
}

async function chooseServers(
  { importable }: FoundServers,
  files: readonly HostFile[],
  { given, where, prompter, hasYard }: ChooseOptions,
): Promise<{ importable: readonly ImportableServer[]; yard: boolean }> {
  const names = listIn(given, 'servers');
  if (names !== undefined) {
    const isNamed = ({ variants }: ImportableServer): boolean =>
      variants.some(({ server }) => names.includes(server.name));
    refuseUnknown(names, [
      ...importable.flatMap(({ variants }) => variants.map(({ server }) => server.name)),
      ...(hasYard ? [YARD_CHOICE] : []),
    ]);
    return { importable: importable.filter(isNamed), yard: hasYard && names.includes(YARD_CHOICE) };
  }
  const isIn = ({ variants }: ImportableServer, file: HostFile): boolean =>
    variants.some(({ server }) => server.location.file === file.location.file);
  const teamFiles = files.filter(({ location }) => location.scope === 'project');
  const usual = importable.filter(
    (importable) => isOwnHere(importable, where) || teamFiles.some((file) => isIn(importable, file)),
  );
  if (prompter === undefined || importable.length + (hasYard ? 1 : 0) === 0)
    return { importable: usual, yard: hasYard };
  const choices: Choice<ImportableServer | typeof YARD_CHOICE>[] = [
    ...importable.map((importable) => ({
      value: importable,
      label: importable.level === 'project' ? `${importable.name} (of this project)` : importable.name,
      hint: offerHint(importable, where),
    })),
    ...(hasYard
      ? [{ value: YARD_CHOICE, label: YARD_CHOICE, hint: 'the services of switchyard.toml in this project' }]
      : []),
  ];
  const chosen = await prompter.many('Which servers should Switchboard run?', choices, [
    ...usual,
    ...(hasYard ? [YARD_CHOICE] : []),
  ] as (ImportableServer | typeof YARD_CHOICE)[]);
  return {
    importable: chosen.filter((each): each is ImportableServer => each !== YARD_CHOICE),
    yard: chosen.includes(YARD_CHOICE),
  };
}

export const YARD_CHOICE = 'yard' as const;

function offerHint({ variants, differs }: ImportableServer, where: HostEnvironment): string {
  const places = variants.map(({ server: { location } }) =>
    location.scope === 'local' && location.project !== where.cwd
      ? `${location.host.title} in ${location.project ?? ''}`
      : location.host.title,
  );
  const other = differs.length === 0 ? '' : `, which differ in ${differs.join(', ')}`;
  return `${entryText(variants[0].server.value)}; ${[...new Set(places)].join(', ')}${other}`;
}

/** If its settings differ between hosts, the user has to choose. */
async function chooseVariant(
  importable: ImportableServer,
  { given, prompter, isConfigured }: ChooseOptions,
): Promise<Omit<ChosenServer, 'importable'>> {
  const { variants, differs, name } = importable;
  const word = given.flags.get('prefer');
  const preferred = word === undefined ? undefined : findHost(word);
  const own = variants.find(({ server }) => server.location.host === preferred);
  if (own !== undefined) return { variant: own, insists: true };
  if (prompter === undefined || differs.length === 0) return { variant: variants[0], insists: false };
  const stays: Choice<EntryVariant | undefined> = {
    value: undefined,
    label: 'the one Switchboard already has',
  };
  const chosen = await prompter.one<EntryVariant | undefined>(
    `${name} differs between hosts (${differs.join(', ')}). Which one should Switchboard use?`,
    [
      ...(variants.some(({ server }) => isConfigured(server.name)) ? [stays] : []),
      ...variants.map((value) => ({
        value,
        label: `the one from ${value.server.location.host.title}`,
        hint: value.server.location.file,
      })),
    ],
  );
  return { variant: chosen ?? variants[0], insists: chosen !== undefined };
}

async function chooseBeside(
  files: readonly HostFile[],
  servers: readonly ChosenServer[],
  { given, where, prompter }: ChooseOptions,
): Promise<readonly HostFile[]> {
  const words = listIn(given, 'beside');
  if (words?.includes('all')) return files;
  if (words !== undefined) {
    refuseUnknown(
      words,
      files.map((file) => fileLabel(file, where)),
    );
    return files.filter((file) => words.includes(fileLabel(file, where)));
  }
  const moving = (file: HostFile) => movable(file, servers, levelIn(given));
  const concerned = files.filter((file) => moving(file).length > 0);
  if (prompter === undefined || concerned.length === 0 || given.flags.has('move')) return [];
  const moved = await prompter.many(
    'Move these servers behind Switchboard? Servers of hosts you do not select stay in place.',
    concerned.map((file) => ({
      value: file,
      label: `${file.location.host.title}: ${moving(file)
        .map(({ name }) => name)
        .join(', ')}`,
      hint: 'undo with `switchboard eject`',
    })),
    concerned,
  );
  return concerned.filter((file) => !moved.includes(file));
}

async function chooseStart(count: number, { given, prompter }: ChooseOptions): Promise<boolean> {
  const { flags } = given;
  if (flags.has('start') || flags.has('no-start')) return flags.has('start');
  if (count === 0) return false;
  if (prompter === undefined) return true;
  return prompter.confirm('Start your servers once afterwards to count what each host loads?');
}

/** The names in a list flag; `none` means an empty list. Undefined if the flag was not given. */
function listIn({ flags }: ParsedArguments, flag: string): string[] | undefined {
  const words = flags
    .get(flag)
    ?.split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  return words?.length === 1 && words[0] === 'none' ? [] : words;
}

function refuseUnknown(names: readonly string[], known: readonly string[]): void {
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const all = [...new Set(known)];
  throw usage(
    `Unknown choice ${JSON.stringify(unknown)}.`,
    didYouMean(unknown, all) ?? (all.length === 0 ? 'Nothing was found.' : `Available: ${all.join(', ')}.`),
  );
}
