import type { LoadedConfig, ServerDefinition } from '../../../config/index.ts';
import { messageOf, SwitchboardError } from '../../../shared/errors.ts';
import { stateDirectory } from '../../../shared/paths.ts';
import { nodeErrorCode } from '../../../shared/node-error-code.ts';
import { printableLine } from '../../../shared/printable.ts';
import type { Context } from '../command.ts';
import { askGateway } from './ask-gateway.ts';
import { gatewaysReading } from './running-gateways.ts';
import type { GatewayStateFile } from './state-file.ts';

/** A gateway that uses a configuration, and whether it was notified to reload. */
export interface NotifiedGateway {
  readonly pid: number;
  readonly program: string;
  readonly told: boolean;
  /** Why it was not notified. */
  readonly reason?: string;
}

/**
 * Tells every gateway that reads one of these configuration files to reload, unless it cannot. A project without a file
 * is named by its directory.
 */
export async function notifyGateways(
  places: readonly string[],
  { env }: Pick<Context, 'env'>,
  reasonNotTo?: string,
): Promise<readonly NotifiedGateway[]> {
  const found = gatewaysReading(stateDirectory(env), places);
  const notified = await Promise.all(
    found.map(async (gateway): Promise<NotifiedGateway | undefined> => {
      const { pid, program } = gateway;
      const reason = reasonNotTo ?? (await notify(gateway));
      if (reason === GONE) return undefined;
      return { pid, program, told: reason === undefined, ...(reason === undefined ? {} : { reason }) };
    }),
  );
  return notified.filter((gateway) => gateway !== undefined);
}

/** The configuration file (or project directory) whose gateways discover a server from a file of its own. */
export function configPathFor({ origin }: Pick<ServerDefinition, 'origin'>, config: LoadedConfig): string {
  return config.files.find(({ scope }) => scope === origin.scope)?.path ?? config.directory;
}

/** Everything that this configuration is read from, in the form that notifyGateways expects. */
export function configPaths({ files, directory, file }: LoadedConfig): readonly string[] {
  return [file ?? directory, ...files.map(({ path }) => path)];
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

/** The same as an error, for commands that do nothing else. */
export function noGatewayError({ file, directory }: LoadedConfig): SwitchboardError {
  const what = file ?? `the servers of ${directory}`;
  return new SwitchboardError('NO_GATEWAY', `No gateway is running with ${what}.`, {
    hint: 'The next gateway that a host starts reads the configuration.',
  });
}

/** It has ended, and another program has its pid now. */
const GONE: unique symbol = Symbol('gone');

/** Returns why it could not be notified. */
async function notify({ pid, control }: GatewayStateFile): Promise<string | typeof GONE | undefined> {
  try {
    if (control === undefined) throw new Error('it takes no requests');
    await askGateway(control, 'reload');
    return undefined;
  } catch (error) {
    if (process.platform !== 'win32') return hangUp(pid);
    // Start times, which distinguish processes with the same pid, are unknown on this system.
    return nodeErrorCode(error) === 'ENOENT' ? GONE : messageOf(error);
  }
}

/** On Windows, the signal would end it. Elsewhere, it was just identified by more than its pid. */
function hangUp(pid: number): string | undefined {
  try {
    process.kill(pid, 'SIGHUP');
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
