import { dirname } from 'node:path';
import {
  installEntry,
  isPresent,
  locationOf,
  type Entry,
  type Host,
  type HostLocation,
  type HostEnvironment,
  hostEnvironment,
} from '../../../hosts/index.ts';
import { expectedError, SwitchboardError } from '../../../shared/errors.ts';
import { stateDirectory } from '../../../shared/paths.ts';
import { usage, type ParsedArguments } from '../../kit/arguments.ts';
import type { CommandOutcome } from '../../kit/command.ts';
import type { CliCommand, Context } from '../command.ts';
import { Exit } from '../../../shared/exit-codes.ts';
import { findCommand } from '../../../process/index.ts';
import { isOurs, ourAddress, ourProgram, variableNotes, variablesIn } from './host-entries.ts';
import { HOST_DRY_RUN, HOST_NAMES, hostsIn, NAME_FLAG, nameIn, SCOPE_FLAG, scopeIn } from './host-flags.ts';
import { hostOutcome, type HostResult } from './host-outcome.ts';
import { scanHosts, scanText } from './scan-hosts.ts';
import { TOKEN_VARIABLE } from '../serve/http-token.ts';
import { entryText } from './without-secrets.ts';

export const installCommand: CliCommand = {
  about: [
    `Adds one entry to the MCP configuration of a host, so that it starts this program. Hosts: ${HOST_NAMES}. ` +
      'Without a host, shows which of them are on this machine and which servers they have.',
    'Comments, order and layout of the file are kept, and a backup is written to the state directory (`$0 ' +
      'eject --list` shows it). A file with a syntax error is not changed, and no file is created for a ' +
      'host that is not installed. `$0 uninstall` removes the entry; if nothing else has ' +
      'changed, it restores the file byte for byte.',
    'The gateway reads your user file and the file of the project in which the host starts it; --config ' +
      'names one file to read instead. With --scope user, the entry has the full path of this program, ' +
      "because desktop applications do not have your shell's PATH; with --scope project, it has no paths of " +
      'your machine.',
    'With --http, the host connects to a gateway that you run with `$0 --http`, and sends the token in ' +
      `the environment variable ${TOKEN_VARIABLE}.`,
  ],
  flags: [
    SCOPE_FLAG,
    NAME_FLAG,
    { name: 'http', value: 'URL', summary: 'connect to the gateway running at this address' },
    {
      name: 'force',
      summary:
        'install even if the host is not found, or replace an entry of that name that is not for Switchboard',
    },
    HOST_DRY_RUN,
  ],
  examples: [
    ['$0 install', 'list hosts and their servers'],
    ['$0 install claude-code cursor', 'two hosts'],
    ['$0 install vscode --scope project', 'for everyone who works on this project'],
    ['$0 install codex --config ~/mcp/switchboard.config.json', 'with a specific configuration'],
    ['$0 install cursor --http http://127.0.0.1:3006/mcp', 'connect to a running gateway'],
    ['$0 install windsurf --dry-run', 'preview'],
  ],
  exits: [[Exit.failed, 'a host was not found, its file cannot be read or written, or the name is taken']],
  async run(given, context) {
    const hosts = hostsIn(given);
    if (hosts.length === 0) return scanned(given, context);
    const where = hostEnvironment(context);
    const scope = scopeIn(given) ?? 'user';
    const name = nameIn(given);
    const dryRun = given.flags.has('dry-run');
    const places = hosts.map((host) => locationOf(host, scope, where));
    // Nothing would read a file for a host that is not installed.
    if (scope === 'user' && !given.flags.has('force')) refuseMissing(places, where);
    const entryFor = await entryMaker(given, context, scope);
    const entries = new Map(places.map((location) => [location, entryFor(location.host)]));
    const apply = async (
      location: HostLocation,
      { entry, notes: entryNotes }: Made,
      tryOnly: boolean,
    ): Promise<HostResult> => {
      const change = await installEntry({
        location,
        name,
        entry,
        isOurs,
        stateDirectory: stateDirectory(context.env),
        force: given.flags.has('force'),
        dryRun: tryOnly,
      });
      if (change.kind === 'taken') throw taken(location, name, change.entry);
      const notes = [
        ...(change.obstacle === undefined ? [] : [change.obstacle]),
        ...entryNotes,
        ...(change.action === 'unchanged' || dryRun ? [] : [location.host.next[scope] ?? '']),
      ];
      return { location, change, notes };
    };
    // All are checked before the first one is changed, so that a typo in one does not leave half of it done.
    for (const [location, made] of entries) await apply(location, made, true);
    // If one host fails after another was changed, the error is reported together with what was done.
    const results: HostResult[] = [];
    for (const [location, made] of entries)
      results.push(
        await apply(location, made, dryRun).catch((error: unknown) => ({
          location,
          change: expectedError(error),
        })),
      );
    return hostOutcome({
      results,
      name,
      dryRun,
      program: context.variant.program,
      data: (location) => ({ entry: entries.get(location)?.entry }),
    });
  },
};

function refuseMissing(places: readonly HostLocation[], where: HostEnvironment): void {
  const isMissing = ({ host }: HostLocation): boolean =>
    !isPresent(host, where) && findCommand(host.program, where).kind === 'missing';
  const missing = places.filter(isMissing).map(({ host, file }) => ({ host, folder: dirname(file) }));
  if (missing.length === 0) return;
  const looked = missing.map(
    ({ host, folder }) =>
      `${host.title} not found: neither ${folder} nor the command ${host.program} exists.`,
  );
  throw new SwitchboardError('HOST_NOT_FOUND', looked.join('\n'), {
    hint: 'Nothing was changed. Install it and start it once, or add the entry anyway with --force.',
  });
}

function scanned({ flags }: ParsedArguments, context: Context): CommandOutcome {
  const { program } = context.variant;
  const flag = ['scope', 'name', 'http', 'force', 'dry-run'].find((each) => flags.has(each));
  if (flag !== undefined)
    throw usage(`--${flag} needs a host.`, `For example: ${program} install claude-code --${flag} …`);
  const files = scanHosts(hostEnvironment(context));
  return { data: { files }, text: (style) => scanText(files, program, style) };
}

interface Made {
  readonly entry: Entry;
  readonly notes: readonly string[];
}

async function entryMaker(
  { flags }: ParsedArguments,
  context: Context,
  scope: 'user' | 'project',
): Promise<(host: Host) => Made> {
  const url = flags.get('http');
  if (url !== undefined) {
    if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
      throw usage('--http needs an address.', 'For example: --http http://127.0.0.1:3006/mcp');
    const notes = [
      `Set ${TOKEN_VARIABLE} where the host is started; ${context.variant.program} --http --show-token shows it.`,
    ];
    return (host) => ({ entry: ourAddress(host, url), notes });
  }
  const config = await context.loadConfig('quietly');
  const variables = variablesIn(config, context.env, scope);
  const file = flags.has('config') ? config.file : undefined;
  const notes = config.servers.length > 0 ? [] : [nothingToServe(context.variant.program)];
  return (host) => ({
    entry: ourProgram(host, { file, variables, scope }, context),
    notes: [...notes, ...variableNotes(host, variables)],
  });
}

function nothingToServe(program: string): string {
  return `No server is configured yet: add one with \`${program} add\`, or import yours with \`${program} import\`.`;
}

function taken({ host, file }: HostLocation, name: string, entry: unknown): SwitchboardError {
  return new SwitchboardError(
    'HOST_ENTRY_TAKEN',
    `${host.title} already has another entry ${JSON.stringify(name)} in ${file}: ${entryText(entry)}`,
    { hint: 'Choose another name with --name, or replace it with --force.' },
  );
}
