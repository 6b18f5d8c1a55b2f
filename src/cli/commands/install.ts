import { dirname } from 'node:path';
import {
  installEntry,
  isPresent,
  locationOf,
  type Entry,
  type Host,
  type HostLocation,
  type HostEnvironment,
} from '../../hosts/index.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import { stateDirectory } from '../../shared/paths.ts';
import { usage, type ParsedArguments } from '../arguments.ts';
import type { CliCommand, Context, CommandOutcome } from '../command.ts';
import { Exit } from '../failure.ts';
import { findCommand } from '../find-command.ts';
import {
  isOurs,
  ourAddress,
  ourProgram,
  variableNotes,
  hostEnvironment,
  variablesIn,
} from '../host-entries.ts';
import { HOST_DRY_RUN, HOST_NAMES, hostsIn, NAME_FLAG, nameIn, SCOPE_FLAG, scopeIn } from '../host-flags.ts';
import { hostOutcome, type HostResult } from '../host-outcome.ts';
import { scanHosts, scanText } from '../scan-hosts.ts';
import { TOKEN_VARIABLE } from '../http-token.ts';
import { entryText } from '../entry-text.ts';

export const installCommand: CliCommand = {
  name: 'install',
  words: '[host…]',
  summary: 'let a host use Switchboard: Claude Code, Cursor, VS Code …',
  about: [
    'Writes one entry into the file in which a host keeps its MCP servers, so that it starts this program with your ' +
      `configuration. Hosts: ${HOST_NAMES}. Without a host, it shows which of them are on this machine, and what they ` +
      'have.',
    'Comments, order and all else in the file stay as they are, and the old text is kept in the state directory ' +
      '(`$0 eject --list` shows where). A file that the host could not read is not touched, and none is made for a host that is not found here. `$0 uninstall` removes the ' +
      'entry again; if nobody else has changed the file meanwhile, it is as before, to the byte.',
    'The entry names no configuration: the gateway reads your own, and that of the project in which the host starts it. ' +
      '--config names the one file it reads instead. In your own file the entry has the full path of this program, ' +
      'because a host with windows does not know the PATH of your shell; in the file of a project it has no path that ' +
      'only you have.',
    'With --http the host connects to a Switchboard that you run with `$0 --http`, and sends the token that it finds ' +
      `in the variable ${TOKEN_VARIABLE}.`,
  ],
  flags: [
    SCOPE_FLAG,
    NAME_FLAG,
    { name: 'http', value: 'URL', summary: 'connect to a Switchboard that is running at this address' },
    {
      name: 'force',
      summary: 'even if the host is not found, or has an entry of this name that is not ours',
    },
    HOST_DRY_RUN,
  ],
  examples: [
    ['$0 install', 'which hosts are there, and what do they have?'],
    ['$0 install claude-code cursor', 'two at once'],
    ['$0 install vscode --scope project', 'for everyone who works in this directory'],
    ['$0 install codex --config ~/mcp/switchboard.config.json', 'with a configuration from elsewhere'],
    ['$0 install cursor --http http://127.0.0.1:3006/mcp', 'connect instead of starting it'],
    ['$0 install windsurf --dry-run', 'look first'],
  ],
  exits: [
    [Exit.failed, 'a host is not found, its file cannot be read or written, or the name is taken there'],
  ],
  async run(given, context) {
    const hosts = hostsIn(given);
    if (hosts.length === 0) return probed(given, context);
    const where = hostEnvironment(context);
    const scope = scopeIn(given) ?? 'user';
    const name = nameIn(given);
    const dryRun = given.flags.has('dry-run');
    const places = hosts.map((host) => locationOf(host, scope, where));
    // A file made for a host that is not there would be used by nobody.
    if (scope === 'user' && !given.flags.has('force')) refuseMissing(places, where);
    const entryFor = await entryMaker(given, context, scope);
    const entries = new Map(places.map((location) => [location, entryFor(location.host)]));
    const apply = async (location: HostLocation, tryOnly: boolean): Promise<HostResult> => {
      const change = await installEntry({
        location,
        name,
        entry: entries.get(location)!.entry,
        isOurs,
        stateDirectory: stateDirectory(context.env),
        force: given.flags.has('force'),
        dryRun: tryOnly,
      });
      if (change.kind === 'taken') throw taken(location, name, change.entry);
      const notes = [
        ...(change.obstacle === undefined ? [] : [change.obstacle]),
        ...entries.get(location)!.notes,
        ...(change.action === 'unchanged' || dryRun ? [] : [location.host.next[scope] ?? '']),
      ];
      return { location, change, notes };
    };
    // All are looked at before the first is changed: a typo in one should not leave half of it done.
    for (const location of places) await apply(location, true);
    const results: HostResult[] = [];
    for (const location of places) results.push(await apply(location, dryRun).catch(asResult(location)));
    return hostOutcome({
      results,
      name,
      dryRun,
      program: context.variant.program,
      data: (location) => ({ entry: entries.get(location)!.entry }),
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
      `${host.title} was not found: it has left nothing in ${folder}, and there is no command ${host.program}.`,
  );
  throw new SwitchboardError('HOST_NOT_FOUND', looked.join('\n'), {
    hint: 'Nothing was changed. Install it and start it once, or write the entry anyway with --force.',
  });
}

/** What goes wrong with one host after another was changed is told beside what was done. */
function asResult(location: HostLocation): (error: unknown) => HostResult {
  return (error) => {
    if (error instanceof SwitchboardError) return { location, change: error };
    throw error;
  };
}

function probed({ flags }: ParsedArguments, context: Context): CommandOutcome {
  const { program } = context.variant;
  const flag = ['scope', 'name', 'http', 'force', 'dry-run'].find((each) => flags.has(each));
  if (flag !== undefined)
    throw usage(`--${flag} needs a host.`, `For example: ${program} install claude-code --${flag} …`);
  const files = scanHosts(hostEnvironment(context));
  return { exitCode: Exit.ok, data: { files }, text: (style) => scanText(files, program, style) };
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
  return `There is no server behind it yet: add one with \`${program} add\`, or bring yours over with \`${program} import\`.`;
}

function taken({ host, file }: HostLocation, name: string, entry: unknown): SwitchboardError {
  return new SwitchboardError(
    'HOST_ENTRY_TAKEN',
    `${host.title} has an entry ${JSON.stringify(name)} that is not ours, in ${file}: ${entryText(entry)}`,
    { hint: 'Choose another name with --name, or replace it with --force.' },
  );
}
