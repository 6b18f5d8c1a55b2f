import { basename, dirname } from 'node:path';
import type { CommandResult } from '../../../console/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { isObject } from '../../../shared/is-object.ts';
import { userConfigDirectory } from '../../../shared/paths.ts';
import type { GatewayStateFile } from '../gateway/state-file.ts';
import type { RunQuietly, ShowPage } from '../command.ts';
import { mcpmux, mcpProxyServer, switchboard, type CliVariant } from '../variants.ts';

/** Time limit of a command, in milliseconds. Long, because the user may have to log in. */
const COMMAND_MS = 10 * 60 * 1000;

/** How commands are run. */
export interface CommandRunner {
  readonly env: NodeJS.ProcessEnv;
  readonly runQuietly: RunQuietly;
  /** Shows the user a page that the command asks them to open. */
  readonly showPage?: ShowPage;
}

export interface CommandForGateway extends CommandRunner {
  /** The file that defines what the command is about; null if none does, or it is unknown. Default null. */
  readonly file?: string | null;
}

/**
 * Runs a command for the configuration of a gateway, as if it had been typed where the gateway was started. Returns the
 * data that it prints with `--json`; rejects if it fails.
 */
export async function runForGateway(
  gateway: GatewayStateFile,
  argv: readonly string[],
  { env, file = null, ...runner }: CommandForGateway,
): Promise<CommandResult> {
  const { search, directory = process.cwd(), config } = gateway;
  const [command = '', ...rest] = argv;
  if (search === undefined)
    return runHere([command, '--config', config, ...rest], variantOf(gateway), {
      cwd: directory,
      env,
      ...runner,
    });
  const { userDirectory } = search;
  const own =
    userDirectory === undefined ||
    userDirectory === userConfigDirectory(env) ||
    basename(userDirectory) !== 'switchboard'
      ? env
      : { ...env, XDG_CONFIG_HOME: dirname(userDirectory) };
  const scope = scopeOf(gateway, file);
  return runHere([command, ...(scope === undefined ? [] : [`--${scope}`]), ...rest], variantOf(gateway), {
    cwd: search.cwd,
    env: own,
    ...runner,
  });
}

/** Runs a command in a directory. Returns the data that it prints with `--json`; rejects if it fails. */
export async function runHere(
  argv: readonly string[],
  variant: CliVariant,
  { runQuietly, ...place }: CommandRunner & { readonly cwd: string },
): Promise<CommandResult> {
  const {
    data,
    exitCode = 0,
    complaint,
  } = await runQuietly(argv, variant, {
    ...place,
    stop: AbortSignal.timeout(COMMAND_MS),
  });
  if (exitCode !== 0 && complaint !== undefined && complaint !== '')
    throw new SwitchboardError('COMMAND_FAILED', complaint.trim(), {
      hint: `In a terminal: ${variant.program} ${argv[0] ?? ''} --help`,
    });
  return isObject(data) ? data : { result: data };
}

/** The layer of the file, for commands that change it; undefined for commands that find it out themselves. */
function scopeOf(
  { search, files = [] }: GatewayStateFile,
  file: string | null,
): 'user' | 'project' | undefined {
  if (file === null || !files.includes(file)) return undefined;
  return dirname(file) === search?.userDirectory ? 'user' : 'project';
}

function variantOf({ program }: GatewayStateFile): CliVariant {
  return [mcpProxyServer, mcpmux].find((each) => each.program === program) ?? switchboard;
}
