import { findHost, type StoredRecord } from '../hosts/index.ts';
import { allBackups, type Backup } from '../shared/backups.ts';
import { printableLine } from '../shared/printable.ts';
import type { CommandOutcome } from './command.ts';
import { Exit } from './failure.ts';
import type { Style } from './style.ts';
import { table } from './table.ts';

/** What `eject --list` shows: takeovers that can be undone, and the texts that files had before we changed them. */
export function takeoverList(
  records: readonly StoredRecord[],
  state: string,
  program: string,
): CommandOutcome {
  const backups = allBackups(state);
  return {
    exitCode: Exit.ok,
    data: {
      takeovers: records.map(({ path, record }) => ({
        host: record.host,
        file: record.file,
        takenAt: record.at,
        servers: removedServers(record),
        record: path,
      })),
      backups,
    },
    text: (style) => takeoverText(records, program, style) + backupText(backups, style),
  };
}

export function removedServers({ parts }: StoredRecord['record']): string[] {
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
  const titles = ['HOST', 'TAKEN OVER', 'SERVERS', 'FILE'].map((title) => ({ title }));
  return (
    table(titles, rows, bold, columns) +
    `\n\`${program} eject HOST\` restores them; \`${program} eject HOST --drop\` forgets them.\n`
  );
}

function backupText(backups: readonly Backup[], { bold }: Style): string {
  if (backups.length === 0) return '';
  const rows = backups.map(({ file, path, at }) => [printableLine(file), shortTime(at), printableLine(path)]);
  const titles = ['FILE', 'CHANGED', 'BACKUP'].map((title) => ({ title }));
  return `\n${table(titles, rows, bold)}`;
}

function shortTime(at: string): string {
  return printableLine(at.slice(0, 16).replace('T', ' '));
}
