import { SwitchboardError } from '../../shared/errors.ts';
import { printableLine } from '../../shared/printable.ts';
import { usage } from '../arguments.ts';
import type { CliCommand } from '../command.ts';
import { Exit } from '../failure.ts';
import {
  notifyUnsupported,
  gatewayText,
  noGatewayError,
  configPaths,
  notifyGateways,
} from '../notify-gateways.ts';

export const reloadCommand: CliCommand = {
  name: 'reload',
  summary: 'let running gateways read the configuration again',
  about: [
    'Tells every gateway that reads one of the files of this configuration, your own or that of the project, to read ' +
      'them again, by SIGHUP. Servers that are defined as ' +
      'before keep their processes and their calls; new ones are exposed, removed ones are stopped, changed ones ' +
      'restart, and hosts are notified of new lists. An invalid configuration changes nothing.',
    '`$0 add` and `$0 remove` do this by themselves; use it after you have edited the file by hand. Servers that an ' +
      'agent has added at run time stay. What changed is in the log of the gateway. Not available on Windows: restart ' +
      'the host there.',
  ],
  flags: [],
  examples: [
    ['$0 reload', 'all gateways of the project in this folder'],
    ['$0 reload --config ../app/$CONFIG', 'those of another one'],
    ["$0 reload --json | jq '.gateways[].pid'", 'the gateways that were notified'],
  ],
  exits: [[Exit.failed, 'no gateway is running with this configuration, or one could not be notified']],
  async run({ words }, context) {
    if (words.length > 0)
      throw usage('reload takes no arguments.', 'It is about all servers of a configuration.');
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
      complaint:
        others
          .map(
            (gateway) =>
              `${context.variant.program}: ${gatewayText(gateway)} was not notified: ${printableLine(gateway.reason ?? '')}.\n`,
          )
          .join('') || undefined,
      text: () =>
        `Told ${told.length} ${told.length === 1 ? 'gateway' : 'gateways'} to reload ${what}` +
        `${told.length === 0 ? '.' : ':'}\n` +
        told.map((gateway) => `  ${gatewayText(gateway)}\n`).join(''),
    };
  },
};

/** Nobody is to start anything again: what runs goes on. */
function withNextStep(error: unknown, program: string): unknown {
  if (!(error instanceof SwitchboardError) || error.code !== 'CONFIG_INVALID') return error;
  return new SwitchboardError(error.code, error.message, {
    hint: `Correct it and run: ${program} reload. Gateways that run go on as they were.`,
    cause: error,
  });
}
