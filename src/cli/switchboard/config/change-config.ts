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

/** What became of the configuration file. */
export interface ConfigChange {
  readonly file: string;
  /** Whose file it is. Default: it is none of the configuration itself. */
  readonly scope?: ConfigScope;
  readonly changed: boolean;
  readonly dryRun: boolean;
  /** Where the old text is; null: nowhere. */
  readonly backup: string | null;
  /** A description for editors that was written beside the file. Default: none. */
  readonly schema?: string;
  /** With --dry-run: what would change. */
  readonly diff?: string;
}

/** Changes the text of a configuration file as the flags want it. */
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
 * Tells the gateways that read these files of a change, unless a flag keeps us from it. One that should have
 * been told and could not be is a failure.
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

/** ` A backup is in FILE.`, where it is, and likewise what else was written. */
export function backupText({ backup, schema }: ConfigChange): string {
  const old = backup === null ? '' : ` A backup is in ${printableLine(backup)}.`;
  return old + (schema === undefined ? '' : ` Editors complete its keys from ${printableLine(schema)}.`);
}

/** Says that a change is one for every project, to a person who did not ask for that. */
export function everywhereText({ scope }: ConfigChange, { flags }: ParsedArguments, instead = ''): string {
  if (scope !== 'user' || flags.has('user')) return '';
  return `This is your user file, so it applies to all your projects.${instead}\n`;
}

function previewOf({ file, before, after }: EditedConfig, style: Style): string {
  const hidden = before === undefined ? undefined : redactConfig(before);
  const shown = diff(file, hidden, redactConfig(after), style);
  return shown === '' ? `In ${printableLine(file)} only secret values would change.\n` : shown;
}
