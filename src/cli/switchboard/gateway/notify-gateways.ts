import type { LoadedConfig, ServerDefinition } from '../../../config/index.ts';
import { messageOf, SwitchboardError } from '../../../shared/errors.ts';
import { stateDirectory } from '../../../shared/paths.ts';
import { printableLine } from '../../../shared/printable.ts';
import type { Context } from '../command.ts';
import { gatewaysReading } from './running-gateways.ts';

/** A gateway that runs with a configuration, and whether it was notified to reload. */
export interface NotifiedGateway {
  readonly pid: number;
  readonly program: string;
  readonly told: boolean;
  /** Why it was not notified. */
  readonly reason?: string;
}

/**
 * Tells every gateway that reads one of these configuration files to read it again, unless there is a reason not to. A
 * project without a file is named by its directory.
 */
export function notifyGateways(
  places: readonly string[],
  { env }: Pick<Context, 'env'>,
  reasonNotTo?: string,
): readonly NotifiedGateway[] {
  // Each was recognised by more than its pid, just now.
  return gatewaysReading(stateDirectory(env), places).map(({ pid, program }) => {
    const reason = reasonNotTo ?? notify(pid);
    return { pid, program, told: reason === undefined, ...(reason === undefined ? {} : { reason }) };
  });
}

/** The configuration file, or the project without one, whose gateways find a server in a file of its own. */
export function configPathFor({ origin }: Pick<ServerDefinition, 'origin'>, config: LoadedConfig): string {
  return config.files.find(({ scope }) => scope === origin.scope)?.path ?? config.directory;
}

/** Everything that this configuration is read from, as tellGateways takes it. */
export function configPaths({ files, directory, file }: LoadedConfig): readonly string[] {
  return [file ?? directory, ...files.map(({ path }) => path)];
}

/** Why gateways cannot be notified on this system; undefined if they can. */
export function notifyUnsupported(platform: NodeJS.Platform = process.platform): string | undefined {
  // There every signal ends a process.
  return platform === 'win32' ? 'a running gateway cannot be notified on Windows' : undefined;
}

/** `switchboard, pid 42` */
export function gatewayText({ program, pid }: Pick<NotifiedGateway, 'program' | 'pid'>): string {
  return `${printableLine(program)}, pid ${pid}`;
}

/** Which gateways were notified and which were not, in lines. */
export function notifiedText(gateways: readonly NotifiedGateway[]): string {
  if (gateways.length === 0)
    return 'No gateway is running with this configuration; the next one will read it.\n';
  return gateways
    .map((gateway) =>
      gateway.told
        ? `Reload signal sent to ${gatewayText(gateway)}.\n`
        : `No reload signal sent to ${gatewayText(gateway)} (${printableLine(gateway.reason ?? '')}).\n`,
    )
    .join('');
}

/** As an error, for commands that do nothing else. */
export function noGatewayError({ file, directory }: LoadedConfig): SwitchboardError {
  const what = file ?? `the servers of ${directory}`;
  return new SwitchboardError('NO_GATEWAY', `No gateway is running with ${what}.`, {
    hint: 'The next gateway that a host starts reads the configuration.',
  });
}

/** Returns why it could not be notified. */
function notify(pid: number): string | undefined {
  try {
    process.kill(pid, 'SIGHUP');
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
