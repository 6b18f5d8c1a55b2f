import { SwitchboardError } from '../../../shared/errors.ts';
import { Exit } from '../../../shared/exit-codes.ts';
import type { Flag, ParsedArguments } from '../../kit/arguments.ts';
import type { Context } from '../command.ts';
import { configPaths, notifyGateways, type NotifiedGateway } from '../gateway/notify-gateways.ts';

export const RELOAD_FLAG: Flag = { name: 'no-reload', summary: 'do not reload running gateways' };

/** Tells the gateways that read this configuration to reload it and its secrets. */
export async function notifyOfSecret(
  { flags }: ParsedArguments,
  context: Context,
): Promise<{ readonly gateways: readonly NotifiedGateway[]; readonly exitCode: number }> {
  try {
    const config = await context.loadConfig('quietly');
    const gateways = await notifyGateways(
      configPaths(config),
      context,
      flags.has('no-reload') ? '--no-reload' : undefined,
    );
    const isUntold = !flags.has('no-reload') && gateways.some(({ told }) => !told);
    return { gateways, exitCode: isUntold ? Exit.failed : Exit.ok };
  } catch (error) {
    // The secret is stored anyway, and other commands report a broken configuration.
    if (!(error instanceof SwitchboardError)) throw error;
    return { gateways: [], exitCode: Exit.ok };
  }
}
