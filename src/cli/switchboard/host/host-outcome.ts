import type { EntryChange, HostLocation } from '../../../hosts/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { printableLine } from '../../../shared/printable.ts';
import type { CommandOutcome } from '../../kit/command.ts';
import { Exit } from '../../../shared/exit-codes.ts';
import { describeFailure, failureData } from '../../kit/output.ts';
import { maskedDiff } from './without-secrets.ts';
import { plainStyle, type Style } from '../../kit/style.ts';

/** What happened to one host's file. */
export interface HostResult {
  readonly location: HostLocation;
  /** The name of the entry, if it is not the usual one. Default: as in HostOutcomeOptions. */
  readonly name?: string;
  readonly change: Extract<EntryChange, { kind: 'done' }> | SwitchboardError;
  /** What the user should know, as sentences. */
  readonly notes?: readonly string[];
}

export interface HostOutcomeOptions {
  readonly results: readonly HostResult[];
  readonly name: string;
  readonly dryRun: boolean;
  readonly program: string;
  /** Additional `--json` output for each. */
  readonly data?: (location: HostLocation) => object;
}

/** What `install` and `uninstall` report about the hosts. */
export function hostOutcome({
  results,
  name,
  dryRun,
  program,
  data,
}: HostOutcomeOptions): CommandOutcome & { readonly data: object } {
  const failures = results.flatMap(({ change }) => (change instanceof SwitchboardError ? [change] : []));
  return {
    exitCode: failures.length > 0 ? Exit.failed : Exit.ok,
    data: {
      name,
      dryRun,
      hosts: results.map(({ location, change, notes = [], name: own = name }) => ({
        host: location.host.name,
        name: own,
        scope: location.scope,
        file: location.file,
        ...(change instanceof SwitchboardError
          ? { action: 'failed', error: failureData(change) }
          : {
              action: change.action,
              backup: change.backup ?? null,
              ...(dryRun ? { diff: maskedDiff(change, plainStyle, location) } : {}),
            }),
        notes,
        ...data?.(location),
      })),
    },
    complaint: failures.map((error) => describeFailure(error, program)).join(''),
    text: (style) => results.map((result) => resultText({ name, ...result }, dryRun, style)).join(''),
  };
}

function resultText(
  { location, change, notes = [], name }: HostResult,
  dryRun: boolean,
  style: Style,
): string {
  if (change instanceof SwitchboardError) return '';
  const shown = JSON.stringify(name);
  const { title } = location.host;
  const file = printableLine(location.file);
  const remarks = notes.map((note) => `  ${printableLine(note)}\n`).join('');
  if (dryRun && change.before !== change.after) return maskedDiff(change, style, location) + remarks;
  const kept = change.backup === undefined ? '' : `  A backup is in ${printableLine(change.backup)}.\n`;
  const what = {
    added: `Added ${shown} to ${title}: ${file}\n`,
    updated: `Updated ${shown} in ${title}: ${file}\n`,
    unchanged: `${title} already has ${shown}: ${file}\n`,
    removed: `Removed ${shown} from ${title}: ${file}\n`,
    absent: `${title} has no entry ${shown} in ${file}; nothing to do.\n`,
  }[change.action];
  return what + kept + remarks;
}
