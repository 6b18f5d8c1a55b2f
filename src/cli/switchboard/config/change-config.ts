import { editConfig, type ConfigScope, type EditedConfig } from '../../../config/index.ts';
import { stateDirectory } from '../../../shared/paths.ts';
import { printableLine } from '../../../shared/printable.ts';
import type { ParsedArguments, Flag } from '../../kit/arguments.ts';
import type { Context } from '../command.ts';
import { TARGET_FLAGS, type ConfigTarget } from './config-target.ts';
import { diff } from '../../kit/diff.ts';
import { plainStyle, type Style } from '../../kit/style.ts';
import { notifyGateways, type NotifiedGateway } from '../gateway/notify-gateways.ts';
import { Exit } from '../../../shared/exit-codes.ts';
import { redactConfig } from './redact-config.ts';

/** Flags of the commands that change the configuration file. */
export const CHANGE_FLAGS: readonly Flag[] = [
  ...TARGET_FLAGS,
  { name: 'dry-run', summary: 'show the changes without making them' },
  { name: 'no-backup', summary: 'do not write a backup to the state directory' },
  { name: 'no-reload', summary: 'do not reload running gateways' },
];

/** What happened to the configuration file. */
export interface ConfigChange {
  readonly file: string;
  /** The layer the file belongs to. Default: none, it is not a configuration file itself. */
  readonly scope?: ConfigScope;
  readonly changed: boolean;
  readonly dryRun: boolean;
  /** The file with the old text; null if there is none. */
  readonly backup: string | null;
  /** The schema for editors that was written next to the file. Default: none. */
  readonly schema?: string;
  /** With --dry-run: what would change. */
  readonly diff?: string;
}

/** Changes the text of a configuration file, as the flags say. */
export async function changeConfig(
  target: ConfigTarget,
  { flags }: ParsedArguments,
  { variant, env }: Context,
  change: (text: string) => string,
): Promise<{ readonly done: ConfigChange; readonly preview: (style: Style) => string }> {
  const dryRun = flags.has('dry-run');
  const edited = await editConfig({
    file: target.file,
    directory: target.directory,
    change,
    dryRun,
    backupsIn: flags.has('no-backup') ? undefined : stateDirectory(env),
    ownerOnly: target.scope === 'user',
    secret: target.secret,
    scope: target.scope === 'explicit' ? undefined : target.scope,
    variant: variant.configVariant,
  });
  const { file, before, after, backup, schema } = edited;
  const changed = before !== after;
  const preview = (style: Style): string => (dryRun && changed ? previewOf(edited, style) : '');
  return {
    done: {
      file,
      scope: target.scope,
      changed: changed && !dryRun,
      dryRun,
      backup: backup ?? null,
      ...(schema === undefined ? {} : { schema }),
      ...(dryRun ? { diff: preview(plainStyle) } : {}),
    },
    preview,
  };
}

/**
 * Notifies the gateways that read these files of a change, unless a flag prevents it. It is an error if a gateway could
 * not be notified.
 */
export async function notifyOfChange(
  { changed, dryRun }: Pick<ConfigChange, 'changed' | 'dryRun'>,
  places: readonly string[],
  { flags }: ParsedArguments,
  context: Pick<Context, 'env'>,
): Promise<{ readonly gateways: readonly NotifiedGateway[]; readonly exitCode: number }> {
  const quiet = dryRun
    ? '--dry-run'
    : !changed
      ? 'nothing has changed'
      : flags.has('no-reload')
        ? '--no-reload'
        : undefined;
  const gateways = await notifyGateways(places, context, quiet);
  const isUntold = quiet === undefined && gateways.some((each) => !each.told);
  return { gateways, exitCode: isUntold ? Exit.failed : Exit.ok };
}

/** ` A backup is in FILE.`, if there is one, and other files that were written. */
export function backupText({ backup, schema }: ConfigChange): string {
  const old = backup === null ? '' : ` A backup is in ${printableLine(backup)}.`;
  return old + (schema === undefined ? '' : ` Editors complete its keys from ${printableLine(schema)}.`);
}

/** Points out that a change applies to every project, if the user did not ask for that. */
export function everywhereText({ scope }: ConfigChange, { flags }: ParsedArguments, instead = ''): string {
  if (scope !== 'user' || flags.has('user')) return '';
  return `This is your user file, so it applies to all your projects.${instead}\n`;
}

function previewOf({ file, before, after }: EditedConfig, style: Style): string {
  const hidden = before === undefined ? undefined : redactConfig(before);
  const shown = diff(file, hidden, redactConfig(after), style);
  return shown === '' ? `In ${printableLine(file)} only secret values would change.\n` : shown;
}
