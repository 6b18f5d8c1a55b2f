import {
  findLocation,
  HOSTS,
  storedRecords,
  locationOf,
  readServers,
  uninstallEntry,
  type Host,
  type HostLocation,
  hostEnvironment,
} from '../../../hosts/index.ts';
import { expectedError, SwitchboardError } from '../../../shared/errors.ts';
import { stateDirectory } from '../../../shared/paths.ts';
import { usage, type ParsedArguments } from '../../kit/arguments.ts';
import type { CliCommand, Context } from '../command.ts';
import { Exit } from '../../../shared/exit-codes.ts';
import { isOurs } from './host-entries.ts';
import { HOST_DRY_RUN, hostsIn, NAME_FLAG, nameIn, SCOPE_FLAG, scopeIn } from './host-flags.ts';
import { hostOutcome, type HostResult } from './host-outcome.ts';
import { entryText } from './without-secrets.ts';

export const uninstallCommand: CliCommand = {
  about: [
    'Removes the entry that `$0 install` added, and nothing else. An entry of the same name that starts ' +
      'another program stays. If nothing else has changed, the file is restored byte for byte; a file that was ' +
      'created for the entry is deleted. --all covers every host and every name; files of a project change ' +
      'only with --scope project.',
    'To restore servers that `$0 init` or `$0 import --takeover` moved out of the host, use `$0 eject`.',
  ],
  flags: [
    { name: 'all', summary: 'remove every entry for Switchboard from the user files of all hosts' },
    SCOPE_FLAG,
    NAME_FLAG,
    HOST_DRY_RUN,
  ],
  examples: [
    ['$0 uninstall cursor', 'from its user file'],
    ['$0 uninstall vscode --scope project', 'from its file in this project'],
    ['$0 uninstall --all', 'from every host'],
    ['$0 uninstall codex --dry-run', 'preview'],
  ],
  exits: [[Exit.failed, 'a file cannot be read or written, or the entry is not for Switchboard']],
  async run(given, context) {
    const { program } = context.variant;
    const dryRun = given.flags.has('dry-run');
    const state = stateDirectory(context.env);
    const { targets, problems, files } = targetsOf(given, context);
    const results: HostResult[] = [...problems];
    for (const { location, name } of targets) {
      try {
        const change = await uninstallEntry({ location, name, isOurs, stateDirectory: state, dryRun });
        if (change.kind === 'taken') throw notOurs(location, name, change.entry);
        results.push({ location, name, change });
      } catch (error) {
        results.push({ location, name, change: expectedError(error) });
      }
    }
    const outcome = hostOutcome({ results, name: nameIn(given), dryRun, program });
    const failed = results.filter(({ change }) => change instanceof SwitchboardError);
    const without = storedRecords(state)
      .map(({ record }) => record)
      .filter(({ file }) => files.includes(file) && !failed.some(({ location }) => location.file === file));
    const hosts = HOSTS.filter(({ name }) => without.some(({ host }) => host === name));
    return {
      ...outcome,
      data: { ...outcome.data, eject: hosts.map((host) => host.name) },
      text: (style) =>
        (results.length > 0 ? outcome.text(style) : 'No host has an entry for Switchboard.\n') +
        ejectText(hosts, program),
    };
  },
};

/** Without our entry, a host has none of the servers that moved behind it. */
function ejectText(hosts: readonly Host[], program: string): string {
  if (hosts.length === 0) return '';
  const titles = hosts.map(({ title }) => title).join(', ');
  const names = hosts.map(({ name }) => name).join(' ');
  return `${titles}: the servers that moved behind Switchboard are still missing there. Restore them with: ${program} eject ${names}\n`;
}

/** An entry to remove. */
interface Target {
  readonly location: HostLocation;
  readonly name: string;
}

interface Targets {
  readonly targets: readonly Target[];
  /** Files that cannot be read. */
  readonly problems: readonly HostResult[];
  /** All files that were checked. */
  readonly files: readonly string[];
}

function targetsOf(given: ParsedArguments, context: Context): Targets {
  const hosts = hostsIn(given);
  const scope = scopeIn(given) ?? 'user';
  const where = hostEnvironment(context);
  if (!given.flags.has('all')) {
    const { program } = context.variant;
    if (hosts.length > 0) {
      const places = hosts.map((host) => locationOf(host, scope, where));
      return {
        targets: places.map((location) => ({ location, name: nameIn(given) })),
        problems: [],
        files: places.map(({ file }) => file),
      };
    }
    throw usage(
      'uninstall needs a host, or --all.',
      `For example: ${program} uninstall cursor. ${program} install lists them.`,
    );
  }
  if (hosts.length > 0) throw usage('--all means every host.', 'Leave out --all, or the hosts.');
  const wanted = given.flags.get('name');
  const targets: Target[] = [];
  const problems: HostResult[] = [];
  const files: string[] = [];
  for (const host of HOSTS) {
    const location = findLocation(host, scope, where);
    if (location === undefined) continue;
    files.push(location.file);
    try {
      const ours = readServers(host, where, scope).filter(({ value }) => isOurs(value));
      targets.push(...ours.filter(({ name }) => wanted === undefined || name === wanted));
    } catch (error) {
      problems.push({ location, change: expectedError(error) });
    }
  }
  return { targets, problems, files };
}

function notOurs({ host, file }: HostLocation, name: string, entry: unknown): SwitchboardError {
  return new SwitchboardError(
    'HOST_ENTRY_TAKEN',
    `The entry ${JSON.stringify(name)} of ${host.title} in ${file} is not for Switchboard: ${entryText(entry)}`,
    { hint: 'It was not removed. If the entry for Switchboard has another name, pass it with --name.' },
  );
}
