import { keptRecords, placeOf, uninstallEntry, type Place } from '../../hosts/index.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import { stateDirectory } from '../../shared/paths.ts';
import { usage } from '../arguments.ts';
import type { Command } from '../command.ts';
import { Exit } from '../failure.ts';
import { isOurs, surroundingsOf } from '../host-entries.ts';
import { HOST_DRY_RUN, hostsIn, NAME_FLAG, nameIn, SCOPE_FLAG, scopeIn } from '../host-flags.ts';
import { hostOutcome, type HostResult } from '../host-outcome.ts';
import { shownEntry } from '../shown-entry.ts';

export const uninstall: Command = {
  name: 'uninstall',
  words: '<host…>',
  summary: 'take our entry out of a host again',
  about: [
    'Takes out the entry that `$0 install` has written, and nothing else. An entry of the same name that starts another ' +
      'program stays. Where nobody else has changed the file since, it is as it was before, to the byte; a file that was ' +
      'made for the entry goes away.',
    'Servers that `$0 import --takeover` has taken out of the host come back with `$0 eject`.',
  ],
  flags: [SCOPE_FLAG, NAME_FLAG, HOST_DRY_RUN],
  examples: [
    ['$0 uninstall cursor', 'out of your own file'],
    ['$0 uninstall vscode --scope project', 'out of that of this directory'],
    ['$0 uninstall codex --dry-run', 'look first'],
  ],
  exits: [[Exit.failed, 'a file of a host cannot be read or written, or the entry there is not ours']],
  async run(given, context) {
    const hosts = hostsIn(given);
    const { program } = context.face;
    if (hosts.length === 0)
      throw usage(
        'uninstall needs a host.',
        `For example: ${program} uninstall cursor. ${program} install shows which there are.`,
      );
    const where = surroundingsOf(context);
    const scope = scopeIn(given) ?? 'user';
    const name = nameIn(given);
    const dryRun = given.flags.has('dry-run');
    const places = hosts.map((host) => placeOf(host, scope, where));
    const taken = new Set(keptRecords(stateDirectory(context.env)).map(({ record }) => record.file));
    const results: HostResult[] = [];
    for (const place of places) {
      try {
        const change = await uninstallEntry({ place, name, isOurs, dryRun });
        if (change.kind === 'taken') throw notOurs(place, name, change.entry);
        const waiting = change.action === 'removed' && taken.has(place.file);
        const notes = waiting
          ? [
              `The servers that were taken out of ${place.host.title} come back with: ${program} eject ${place.host.name}`,
            ]
          : [];
        results.push({ place, change, notes });
      } catch (error) {
        if (!(error instanceof SwitchboardError)) throw error;
        results.push({ place, change: error });
      }
    }
    return hostOutcome({ results, name, dryRun, program });
  },
};

function notOurs({ host, file }: Place, name: string, entry: unknown): SwitchboardError {
  return new SwitchboardError(
    'HOST_ENTRY_TAKEN',
    `The entry ${JSON.stringify(name)} of ${host.title} is not ours, in ${file}: ${shownEntry(entry)}`,
    { hint: 'It stays. If ours has another name there, give it with --name.' },
  );
}
