import {
  deleteRecord,
  findHost,
  undoTakeover,
  HOSTS,
  storedRecords,
  parseText,
  type UndoneTakeover,
  type StoredRecord,
} from '../../hosts/index.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import { stateDirectory } from '../../shared/paths.ts';
import { printableLine } from '../../shared/printable.ts';
import { usage } from '../arguments.ts';
import type { CliCommand, CommandOutcome } from '../command.ts';
import { describeFailure, Exit, failureData } from '../failure.ts';
import { maskedDiff } from '../host-diff.ts';
import { isOurs } from '../host-entries.ts';
import { HOST_DRY_RUN, hostsIn } from '../host-flags.ts';
import { takeoverList, removedServers } from '../takeover-list.ts';
import { plainStyle, type Style } from '../style.ts';

interface Ejected extends StoredRecord {
  readonly result: UndoneTakeover | SwitchboardError;
}

export const ejectCommand: CliCommand = {
  name: 'eject',
  words: '[host…]',
  summary: 'undo a takeover: give hosts their servers back',
  about: [
    'Puts back what `$0 import --takeover` has taken out of a host, and takes our entry away. If nobody has changed ' +
      'the file since, it is as it was before, to the byte. Otherwise the servers are added again, and all else that ' +
      'is there now stays. A server whose name another one has by now is left out, and is kept for a later try.',
    '--list shows what can be put back, and every text that was kept before a file was changed, ours included: the last five ' +
      'of each file, for 90 days.',
    'The configuration of Switchboard is not touched: the servers stay in there, too, until you `$0 remove` them.',
  ],
  flags: [
    { name: 'list', summary: 'show what can be put back, and the old texts that are kept' },
    { name: 'drop', summary: 'forget the takeover of a host instead of undoing it; its file stays as it is' },
    HOST_DRY_RUN,
  ],
  examples: [
    ['$0 eject', 'all hosts'],
    ['$0 eject cursor', 'only this one'],
    ['$0 eject --dry-run', 'look first'],
    ['$0 eject --list', 'what is there to put back?'],
    ['$0 eject cursor --drop', 'keep it as it is, and forget what was there'],
  ],
  exits: [[Exit.failed, 'a file could not be changed, or a server could not be put back']],
  async run(given, context) {
    const { program } = context.variant;
    const wanted = new Set((hostsIn(given).length > 0 ? hostsIn(given) : HOSTS).map(({ name }) => name));
    const dryRun = given.flags.has('dry-run');
    const state = stateDirectory(context.env);
    const kept = storedRecords(state).filter(({ record }) => wanted.has(record.host));
    if (given.flags.has('list')) return takeoverList(kept, state, program);
    if (given.flags.has('drop')) {
      if (given.words.length === 0)
        throw usage('--drop needs a host.', `${program} eject --list shows which there are.`);
      return dropped(kept, dryRun);
    }
    const ejected: Ejected[] = [];
    for (const each of kept)
      ejected.push({
        ...each,
        result: await undoTakeover(each, { isOurs, stateDirectory: state, dryRun }).catch(expected),
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
                ...(dryRun ? { diff: diffOf(record, result, plainStyle) } : {}),
              }),
        })),
      },
      complaint: failures.map((failure) => describeFailure(failure, program)).join('') || undefined,
      text: (style) =>
        ejected.length === 0
          ? `Nothing was taken over${given.words.length > 0 ? ' there' : ''}, so there is nothing to put back.\n`
          : ejected.map((each) => ejectedText(each, dryRun, style)).join(''),
    };
  },
};

/** Forgets takeovers. */
function dropped(kept: readonly StoredRecord[], dryRun: boolean): CommandOutcome {
  if (!dryRun) for (const { path } of kept) deleteRecord(path);
  return {
    exitCode: Exit.ok,
    data: {
      dryRun,
      dropped: kept.map(({ record }) => ({
        host: record.host,
        file: record.file,
        takenAt: record.at,
        servers: removedServers(record),
      })),
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

function expected(error: unknown): SwitchboardError {
  if (error instanceof SwitchboardError) return error;
  throw error;
}

function ejectedText({ record, result }: Ejected, dryRun: boolean, style: Style): string {
  if (result instanceof SwitchboardError) return '';
  const { title, next } = findHost(record.host);
  const file = printableLine(record.file);
  const left = result.left.map(
    (name) =>
      `  ${JSON.stringify(printableLine(name))} is not put back: another server has its name there now.\n`,
  );
  if (dryRun && result.before !== result.after) return diffOf(record, result, style) + left.join('');
  const names = result.returned.map(printableLine).join(', ');
  const what = {
    restored: `${file} is as it was before the takeover (${title}: ${names}). ${next.user}\n`,
    merged: `Put back into ${file} (${title}): ${names === '' ? 'nothing' : names}. ${next.user}\n`,
    nothing: `${file} is as it was before the takeover already.\n`,
  }[result.how];
  return what + left.join('');
}

function diffOf(record: StoredRecord['record'], change: UndoneTakeover, style: Style): string {
  return maskedDiff(change, (text) => parseText(text, record.parts[0] ?? { format: 'json' }), style);
}
