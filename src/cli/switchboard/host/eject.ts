import {
  deleteRecord,
  findHost,
  undoTakeover,
  HOSTS,
  storedRecords,
  type UndoneTakeover,
  type StoredRecord,
} from '../../../hosts/index.ts';
import { expectedError, SwitchboardError } from '../../../shared/errors.ts';
import { stateDirectory } from '../../../shared/paths.ts';
import { printableLine } from '../../../shared/printable.ts';
import { usage } from '../../kit/arguments.ts';
import type { CommandOutcome } from '../../kit/command.ts';
import type { CliCommand } from '../command.ts';
import { Exit } from '../../../shared/exit-codes.ts';
import { describeFailure, failureData } from '../../kit/output.ts';
import { maskedDiff } from './without-secrets.ts';
import { isOurs } from './host-entries.ts';
import { HOST_DRY_RUN, hostsIn } from './host-flags.ts';
import { plainStyle, type Style } from '../../kit/style.ts';
import { allBackups, type Backup } from '../../../shared/backups.ts';
import { table } from '../../kit/table.ts';

interface Ejected extends StoredRecord {
  readonly result: UndoneTakeover | SwitchboardError;
}

export const ejectCommand: CliCommand = {
  about: [
    'Restores the servers that `$0 init` or `$0 import --takeover` moved out of a host, and removes the ' +
      'entry for Switchboard. If nothing else has changed, the file is restored byte for byte. Otherwise the ' +
      'servers are added and all other content stays. A server whose name is now in use is skipped and kept ' +
      'for the next try.',
    '--list shows what can be restored, and all backups: the last five of each file, for 90 days.',
    'The configuration of Switchboard is not changed: it keeps the servers until you `$0 remove` them.',
  ],
  flags: [
    { name: 'list', summary: 'list what can be restored, and all backups' },
    { name: 'drop', summary: 'forget the takeover of a host; its file stays as it is' },
    HOST_DRY_RUN,
  ],
  examples: [
    ['$0 eject', 'all hosts'],
    ['$0 eject cursor', 'one host'],
    ['$0 eject --dry-run', 'preview'],
    ['$0 eject --list', 'what can be restored'],
    ['$0 eject cursor --drop', 'keep the file as it is and forget the takeover'],
  ],
  exits: [[Exit.failed, 'a file could not be changed, or a server could not be restored']],
  async run(given, context) {
    const { program } = context.variant;
    const wanted = new Set((hostsIn(given).length > 0 ? hostsIn(given) : HOSTS).map(({ name }) => name));
    const dryRun = given.flags.has('dry-run');
    const state = stateDirectory(context.env);
    const kept = storedRecords(state).filter(({ record }) => wanted.has(record.host));
    if (given.flags.has('list')) return takeoverList(kept, state, program);
    if (given.flags.has('drop')) {
      if (given.words.length === 0)
        throw usage('--drop needs a host.', `${program} eject --list shows them.`);
      return dropped(kept, dryRun);
    }
    const ejected: Ejected[] = [];
    for (const each of kept)
      ejected.push({
        ...each,
        result: await undoTakeover(each, { isOurs, stateDirectory: state, dryRun }).catch(expectedError),
      });
    const failures = ejected.flatMap(({ result }) => (result instanceof SwitchboardError ? [result] : []));
    const isShort = ejected.some(
      ({ result }) => !(result instanceof SwitchboardError) && result.left.length > 0,
    );
    return {
      exitCode: failures.length > 0 || isShort ? Exit.failed : Exit.ok,
      data: {
        dryRun,
        ejected: ejected.map(({ record, result }) => ({
          host: record.host,
          file: record.file,
          takenAt: record.at,
          ...(result instanceof SwitchboardError
            ? { error: failureData(result) }
            : {
                how: result.how,
                returned: result.returned,
                left: result.left,
                backup: result.backup ?? null,
                ...(dryRun ? { diff: maskedDiff(result, plainStyle, record.parts[0]) } : {}),
              }),
        })),
      },
      complaint: failures.map((failure) => describeFailure(failure, program)).join(''),
      text: (style) =>
        ejected.length === 0
          ? `Nothing was taken over${given.words.length > 0 ? ' there' : ''}, so there is nothing to restore.\n`
          : ejected.map((each) => ejectedText(each, dryRun, style)).join(''),
    };
  },
};

/** Deletes the records of takeovers. */
function dropped(kept: readonly StoredRecord[], dryRun: boolean): CommandOutcome {
  if (!dryRun) for (const { path } of kept) deleteRecord(path);
  return {
    data: {
      dryRun,
      dropped: kept.map(({ record }) => takeoverData(record)),
    },
    text: () =>
      kept.length === 0
        ? 'Nothing was taken over there, so there is nothing to forget.\n'
        : kept
            .map(({ record }) => {
              const names = removedServers(record).map(printableLine).join(', ');
              const what = dryRun ? 'Would forget' : 'Forgot';
              return `${what} the takeover of ${findHost(record.host).title} (${names}); ${printableLine(record.file)} stays as it is.\n`;
            })
            .join(''),
  };
}

function ejectedText({ record, result }: Ejected, dryRun: boolean, style: Style): string {
  if (result instanceof SwitchboardError) return '';
  const { title, next } = findHost(record.host);
  const file = printableLine(record.file);
  const left = result.left.map(
    (name) => `  ${JSON.stringify(printableLine(name))} was not restored: another server now has its name.\n`,
  );
  if (dryRun && result.before !== result.after)
    return maskedDiff(result, style, record.parts[0]) + left.join('');
  const names = result.returned.map(printableLine).join(', ');
  const what = {
    restored: `Restored ${file} (${title}: ${names}), byte for byte. ${next.user}\n`,
    merged: `Restored in ${file} (${title}): ${names === '' ? 'nothing' : names}. ${next.user}\n`,
    nothing: `${file} already is as it was before the takeover.\n`,
  }[result.how];
  return what + left.join('');
}

/** The output of `eject --list`: takeovers that can be undone, and backups of files that we changed. */
function takeoverList(records: readonly StoredRecord[], state: string, program: string): CommandOutcome {
  const backups = allBackups(state);
  return {
    data: {
      takeovers: records.map(({ path, record }) => ({ ...takeoverData(record), record: path })),
      backups,
    },
    text: (style) => takeoverText(records, program, style) + backupText(backups, style),
  };
}

function takeoverData(record: StoredRecord['record']): object {
  return { host: record.host, file: record.file, takenAt: record.at, servers: removedServers(record) };
}

function removedServers({ parts }: StoredRecord['record']): string[] {
  return parts.flatMap(({ removed }) => removed);
}

function takeoverText(records: readonly StoredRecord[], program: string, { bold, columns }: Style): string {
  if (records.length === 0) return 'No host has been taken over.\n';
  const rows = records.map(({ record }) => [
    findHost(record.host).name,
    shortTime(record.at),
    removedServers(record).map(printableLine).join(', '),
    printableLine(record.file),
  ]);
  const titles = ['HOST', 'TAKEN OVER', 'SERVERS', 'FILE'];
  return (
    table(titles, rows, bold, columns) +
    `\n\`${program} eject HOST\` restores them; \`${program} eject HOST --drop\` forgets them.\n`
  );
}

function backupText(backups: readonly Backup[], { bold }: Style): string {
  if (backups.length === 0) return '';
  const rows = backups.map(({ file, path, at }) => [printableLine(file), shortTime(at), printableLine(path)]);
  const titles = ['FILE', 'CHANGED', 'BACKUP'];
  return `\n${table(titles, rows, bold)}`;
}

function shortTime(at: string): string {
  return printableLine(at.slice(0, 16).replace('T', ' '));
}
