import { SwitchboardError } from '../../../shared/errors.ts';
import { printableLine } from '../../../shared/printable.ts';
import { usage } from '../../kit/arguments.ts';
import type { CliCommand } from '../command.ts';
import { Exit } from '../../../shared/exit-codes.ts';
import {
  notifyUnsupported,
  gatewayText,
  noGatewayError,
  configPaths,
  notifyGateways,
} from './notify-gateways.ts';

export const reloadCommand: CliCommand = {
  about: [
    'Sends SIGHUP to every gateway that uses one of these configuration files. Unchanged servers keep ' +
      'their processes and calls, new ones are added, removed ones stop, changed ones restart, and clients ' +
      'are notified of changed lists. If the configuration is invalid, nothing changes.',
    '`$0 add`, `$0 remove` and similar commands do this automatically; use it after you edit a file by ' +
      'hand. Servers that an agent added at run time stay. The log of the gateway says what changed. Not ' +
      'available on Windows: restart the host instead.',
  ],
  flags: [],
  examples: [
    ['$0 reload', "all gateways of this directory's project"],
    ['$0 reload --config ../app/$CONFIG', 'those of another project'],
    ["$0 reload --json | jq '.gateways[].pid'", 'process IDs of the gateways'],
  ],
  exits: [[Exit.failed, 'no gateway is running with this configuration, or one could not be notified']],
  async run({ words }, context) {
    if (words.length > 0) throw usage('reload takes no arguments.', 'It reloads the whole configuration.');
    const unable = notifyUnsupported();
    if (unable !== undefined) {
      throw new SwitchboardError('RELOAD_UNAVAILABLE', `reload is not available: ${unable}.`, {
        hint: 'Restart the host, or its MCP servers.',
      });
    }
    // Read here as well: the person who waits sees what is wrong, not only the log.
    const config = await context.loadConfig('strictly').catch((error: unknown) => {
      throw withNextStep(error, context.variant.program);
    });
    const gateways = notifyGateways(configPaths(config), context);
    if (gateways.length === 0) throw noGatewayError(config);
    const told = gateways.filter((gateway) => gateway.told);
    const others = gateways.filter((gateway) => !gateway.told);
    const names = config.files.map(({ path }) => path).join(' and ');
    const what = printableLine(names || `the servers of ${config.directory}`);
    return {
      exitCode: others.length === 0 ? Exit.ok : Exit.failed,
      data: { config: config.file ?? null, files: config.files, gateways },
      complaint: others
        .map(
          (gateway) =>
            `${context.variant.program}: ${gatewayText(gateway)} was not notified: ${printableLine(gateway.reason ?? '')}.\n`,
        )
        .join(''),
      text: () =>
        `Notified ${told.length} ${told.length === 1 ? 'gateway' : 'gateways'} to reload ${what}` +
        `${told.length === 0 ? '.' : ':'}\n` +
        told.map((gateway) => `  ${gatewayText(gateway)}\n`).join(''),
    };
  },
};

/** Nobody is to start anything again: what runs goes on. */
function withNextStep(error: unknown, program: string): unknown {
  if (!(error instanceof SwitchboardError) || error.code !== 'CONFIG_INVALID') return error;
  return new SwitchboardError(error.code, error.message, {
    hint: `Correct it and run: ${program} reload. Running gateways are unchanged.`,
    cause: error,
  });
}
