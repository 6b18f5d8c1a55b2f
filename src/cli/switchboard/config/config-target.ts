import {
  locateConfig,
  type ConfigScope,
  type LoadedConfig,
  type ServerDefinition,
} from '../../../config/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { userConfigDirectory } from '../../../shared/paths.ts';
import { usage, type ParsedArguments, type Flag } from '../../kit/arguments.ts';
import type { Context } from '../command.ts';

/** The configuration file that a command changes. */
export interface ConfigTarget {
  readonly scope: ConfigScope;
  /** Absolute; undefined where it is yet to be made. */
  readonly file: string | undefined;
  /** Where it is made, and what its relative paths are relative to. */
  readonly directory: string;
  /** Whether a secret is written into it, so that only its owner may read it. Default false. */
  readonly secret?: boolean;
}

export const TARGET_FLAGS: readonly Flag[] = [
  { name: 'user', forLayers: true, summary: 'change your user file, which applies to every project' },
  {
    name: 'project',
    forLayers: true,
    summary: 'change the project file (default if it exists)',
  },
];

/** The file that the flags ask for; without one, that of the usual scope: the project's if there is one, else the user's. */
export function configTarget(
  { flags }: ParsedArguments,
  config: LoadedConfig,
  { cwd, env, variant }: Pick<Context, 'cwd' | 'env' | 'variant'>,
  usual: 'user' | 'project' = config.files.some((file) => file.scope === 'project') ? 'project' : 'user',
): ConfigTarget {
  const [asked, other] = (['user', 'project'] as const).filter((scope) => flags.has(scope));
  if (other !== undefined) throw usage('--user and --project cannot be combined.', 'Remove one of them.');
  if (config.search === undefined) {
    if (asked === undefined) return { scope: 'explicit', file: config.file, directory: config.directory };
    throw flags.has('config')
      ? usage(`--config already names the file, so --${asked} has no effect.`, 'Remove one of them.')
      : usage(`${variant.program} has only one configuration, so --${asked} does not apply.`, 'Remove it.');
  }
  const scope = asked ?? usual;
  const { file, directory } = locateConfig(scope, { cwd, userDirectory: userConfigDirectory(env) });
  if (asked === undefined && file !== undefined && config.notAllowed?.files.some(({ path }) => path === file))
    throw new SwitchboardError('PROJECT_NOT_ALLOWED', `${file} is not allowed yet, so it was not changed.`, {
      hint: `Review it with \`${variant.program} allow\` first, or change your user file with --user.`,
    });
  return { scope, file, directory };
}

/** What to do about a server that is in another configuration file than the one to be changed; undefined where it is in none. */
export function inOtherFile(
  name: string,
  config: LoadedConfig,
  { file, scope }: ConfigTarget,
): SwitchboardError | undefined {
  const origin = originOf(name, config);
  if (origin === undefined || origin.scope === scope || !isConfigFile(origin.file, config)) return undefined;
  return new SwitchboardError(
    'SERVER_ELSEWHERE',
    `${JSON.stringify(name)} is not defined in ${file ?? "the project's configuration"} but in ${origin.file}.`,
    { hint: `To change it there, add --${origin.scope ?? 'user'}.` },
  );
}

/** Whether a file is one of the configuration itself, rather than one that was discovered. */
export function isConfigFile(file: string, { files }: LoadedConfig): boolean {
  return files.some(({ path }) => path === file);
}

/** Where the server of a name is defined; undefined if there is none, or if it is disabled. */
export function originOf(
  name: string,
  { servers, unusable }: LoadedConfig,
): ServerDefinition['origin'] | undefined {
  return [...servers, ...unusable].find((server) => server.name === name)?.origin;
}

/** Where a server of this name is defined that counts now, if that is another file than the given one. */
export function definedElsewhere(
  name: string,
  config: LoadedConfig,
  file: string | undefined,
): ServerDefinition['origin'] | undefined {
  const origin = originOf(name, config);
  return origin?.file === file ? undefined : origin;
}
