import { relative, resolve } from 'node:path';
import { findHost, type HostServer, type HostEnvironment } from '../../hosts/index.ts';
import { didYouMean } from '../../shared/nearest.ts';
import { usage, type Arguments } from '../arguments.ts';
import { levelOf, type Level } from '../import-config.ts';
import { levelIn } from '../import-job.ts';
import { shownEntry } from '../shown-entry.ts';
import type { Asker, Choice } from './ask.ts';
import { isOwnHere, type FoundServers, type HostFile, type Offer, type Variant } from './offers.ts';

/** What is to be done. */
export interface Choices {
  readonly servers: readonly ChosenServer[];
  /** The files that get our entry: those of hosts, and team files that were chosen by name. */
  readonly files: readonly HostFile[];
  /** Those of them whose servers stay where they are, beside our entry. */
  readonly beside: readonly HostFile[];
  /** Whether the project's Switchyard is added. */
  readonly yard: boolean;
  /** Whether the servers are started once, to count what hosts load. */
  readonly start: boolean;
}

export interface ChosenServer {
  readonly offer: Offer;
  /** The one to write. */
  readonly variant: Variant;
  /** Whether somebody chose it, so that it also replaces the one that Switchboard has. */
  readonly insists: boolean;
}

export interface ChooseOptions {
  readonly given: Arguments;
  readonly where: HostEnvironment;
  /** Who to ask what no flag says; undefined: the usual answers are taken. */
  readonly asker: Asker | undefined;
  /** Whether there is a Switchyard to add. */
  readonly hasYard: boolean;
  /** Whether Switchboard has a server of this name already. */
  readonly isConfigured: (name: string) => boolean;
}

/** Decides by flags, then by asking. Throws USAGE for a flag that names something that is not there. */
export async function choose(found: FoundServers, options: ChooseOptions): Promise<Choices> {
  const files = await chooseFiles(found, options);
  const { offers, yard } = await chooseServers(found, files, options);
  const servers: ChosenServer[] = [];
  for (const offer of offers) servers.push({ offer, ...(await chooseVariant(offer, options)) });
  const beside = await chooseBeside(files, servers, options);
  const start = await chooseStart(servers.length + (yard ? 1 : 0), options);
  return { servers, files, beside, yard, start };
}

/**
 * The servers of a file that move behind Switchboard unless they stay. Those of a team never move into a person's own
 * file, where the team would miss them, nor a person's own into the file of one project.
 */
export function movable(
  { servers }: HostFile,
  chosen: readonly ChosenServer[],
  level: Level | undefined,
): HostFile['servers'] {
  const taken = chosen.flatMap(({ offer }) => offer.variants.map((variant) => variant.server));
  const isKept = (server: HostServer): boolean =>
    level === undefined || level === 'explicit' || level === levelOf(server);
  return servers.filter((server) => taken.includes(server) && isKept(server));
}

/** A file as it is named in lists and by flags: the host, or the path of a team file. */
export function fileLabel({ location }: HostFile, where: HostEnvironment): string {
  return location.scope === 'project' ? relative(where.cwd, location.file) : location.host.name;
}

async function chooseFiles(
  { hosts, teamFiles }: FoundServers,
  { given, where, asker }: ChooseOptions,
): Promise<readonly HostFile[]> {
  const words = listIn(given, 'hosts');
  if (words !== undefined) return words.map((word) => fileNamed(word, { hosts, teamFiles }, where));
  if (asker === undefined || hosts.length + teamFiles.length === 0) return hosts;
  const choices: Choice<HostFile>[] = [
    ...hosts.map((file) => ({ value: file, label: file.location.host.title, hint: contents(file) })),
    ...teamFiles.map((file) => ({
      value: file,
      label: `${file.location.host.title} in this project: ${fileLabel(file, where)}`,
      hint: `shared with your team; ${contents(file)}`,
    })),
  ];
  return asker.many('Which hosts should use Switchboard?', choices, hosts);
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
    isPath ? `No host keeps servers in ${path}.` : `${findHost(word).title} is not on this machine.`,
    guess ?? (known.length === 0 ? 'No host was found here.' : `Found here: ${known.join(', ')}.`),
  );
}

function contents({ servers, ours }: HostFile): string {
  const counted = servers.length === 1 ? '1 server' : `${servers.length} servers`;
  return ours === undefined ? counted : `${counted}, and Switchboard already`;
}

async function chooseServers(
  { offers }: FoundServers,
  files: readonly HostFile[],
  { given, where, asker, hasYard }: ChooseOptions,
): Promise<{ offers: readonly Offer[]; yard: boolean }> {
  const names = listIn(given, 'servers');
  if (names !== undefined) {
    const isNamed = ({ variants }: Offer): boolean =>
      variants.some(({ server }) => names.includes(server.name));
    refuseUnknown(names, [
      ...offers.flatMap(({ variants }) => variants.map(({ server }) => server.name)),
      ...(hasYard ? [YARD] : []),
    ]);
    return { offers: offers.filter(isNamed), yard: hasYard && names.includes(YARD) };
  }
  const isIn = ({ variants }: Offer, file: HostFile): boolean =>
    variants.some(({ server }) => server.location.file === file.location.file);
  const teamFiles = files.filter(({ location }) => location.scope === 'project');
  const usual = offers.filter(
    (offer) => isOwnHere(offer, where) || teamFiles.some((file) => isIn(offer, file)),
  );
  if (asker === undefined || offers.length + (hasYard ? 1 : 0) === 0) return { offers: usual, yard: hasYard };
  const choices: Choice<Offer | typeof YARD>[] = [
    ...offers.map((offer) => ({
      value: offer,
      label: offer.level === 'project' ? `${offer.name} (of this project)` : offer.name,
      hint: offerHint(offer, where),
    })),
    ...(hasYard
      ? [{ value: YARD, label: YARD, hint: 'the services of switchyard.toml in this project' }]
      : []),
  ];
  const chosen = await asker.many('Which servers should Switchboard run?', choices, [
    ...usual,
    ...(hasYard ? [YARD] : []),
  ] as (Offer | typeof YARD)[]);
  return {
    offers: chosen.filter((each): each is Offer => each !== YARD),
    yard: chosen.includes(YARD),
  };
}

export const YARD = 'yard' as const;

function offerHint({ variants, differs }: Offer, where: HostEnvironment): string {
  const places = variants.map(({ server: { location } }) =>
    location.scope === 'local' && location.project !== where.cwd
      ? `${location.host.title} in ${location.project ?? ''}`
      : location.host.title,
  );
  const other = differs.length === 0 ? '' : `, which differ in ${differs.join(', ')}`;
  return `${shownEntry(variants[0].server.value)}; ${[...new Set(places)].join(', ')}${other}`;
}

/** Where hosts have it with different keys, somebody has to say which are right. */
async function chooseVariant(
  offer: Offer,
  { given, asker, isConfigured }: ChooseOptions,
): Promise<Omit<ChosenServer, 'offer'>> {
  const { variants, differs, name } = offer;
  const word = given.flags.get('prefer');
  const preferred = word === undefined ? undefined : findHost(word);
  const own = variants.find(({ server }) => server.location.host === preferred);
  if (own !== undefined) return { variant: own, insists: true };
  if (asker === undefined || differs.length === 0) return { variant: variants[0], insists: false };
  const stays: Choice<Variant | undefined> = { value: undefined, label: 'the one that Switchboard has' };
  const chosen = await asker.one<Variant | undefined>(
    `${name} differs between hosts (${differs.join(', ')}). Which one should Switchboard use?`,
    [
      ...(variants.some(({ server }) => isConfigured(server.name)) ? [stays] : []),
      ...variants.map((value) => ({
        value,
        label: `the one of ${value.server.location.host.title}`,
        hint: value.server.location.file,
      })),
    ],
  );
  return { variant: chosen ?? variants[0], insists: chosen !== undefined };
}

async function chooseBeside(
  files: readonly HostFile[],
  servers: readonly ChosenServer[],
  { given, where, asker }: ChooseOptions,
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
  if (asker === undefined || concerned.length === 0 || given.flags.has('move')) return [];
  const moved = await asker.many(
    'Move these servers behind Switchboard? Those of hosts you leave out stay beside it.',
    concerned.map((file) => ({
      value: file,
      label: `${file.location.host.title}: ${moving(file)
        .map(({ name }) => name)
        .join(', ')}`,
      hint: 'undone by `switchboard eject`',
    })),
    concerned,
  );
  return concerned.filter((file) => !moved.includes(file));
}

async function chooseStart(count: number, { given, asker }: ChooseOptions): Promise<boolean> {
  const { flags } = given;
  if (flags.has('start') || flags.has('no-start')) return flags.has('start');
  if (count === 0) return false;
  if (asker === undefined) return true;
  return asker.confirm('Start your servers once afterwards, to count what each host loads?');
}

/** The names of a list; `none` is an empty one. Undefined where the flag was not given. */
function listIn({ flags }: Arguments, flag: string): string[] | undefined {
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
    `There is no ${JSON.stringify(unknown)} to choose.`,
    didYouMean(unknown, all) ?? (all.length === 0 ? 'Nothing was found.' : `There are: ${all.join(', ')}.`),
  );
}
