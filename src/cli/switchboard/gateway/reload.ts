import { counted } from '../../kit/text.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { printableLine } from '../../../shared/printable.ts';
import { usage } from '../../kit/arguments.ts';
import type { CliCommand } from '../command.ts';
import { programProblems } from '../server/check-server.ts';
import { Exit } from '../../../shared/exit-codes.ts';
import { gatewayText, noGatewayError, configPaths, notifyGateways } from './notify-gateways.ts';

export const reloadCommand: CliCommand = {
  about: [
    'Tells every gateway that uses one of these configuration files to read them again. Unchanged servers ' +
      'keep their processes and calls, new ones are added, removed ones stop, changed ones restart, and ' +
      'clients are notified of changed lists. If a changed server does not start, its old process keeps ' +
      'running. If the configuration is invalid, nothing changes. Except on Windows, SIGHUP does the same for one gateway.',
    '`$0 add`, `$0 remove` and similar commands do this automatically; use it after you edit a file by ' +
      'hand. Servers that an agent added at run time stay. The log of the gateway says what changed, and ' +
      '`$0 list` shows servers that did not start.',
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
    // Also loaded here, so that the person who waits sees the problems, not only the log.
    const config = await context.loadConfig('strictly').catch((error: unknown) => {
      throw withNextStep(error, context.variant.program);
    });
    const gateways = await notifyGateways(configPaths(config), context);
    if (gateways.length === 0) throw noGatewayError(config);
    const told = gateways.filter((gateway) => gateway.told);
    const others = gateways.filter((gateway) => !gateway.told);
    const problems = config.servers.flatMap((server) =>
      server.kind === 'stdio'
        ? programProblems(server, context.env).map((problem) => ({ server: server.name, ...problem }))
        : [],
    );
    const { program } = context.variant;
    const names = config.files.map(({ path }) => path).join(' and ');
    const what = printableLine(names || `the servers of ${config.directory}`);
    return {
      exitCode: others.length === 0 ? Exit.ok : Exit.failed,
      data: { config: config.file ?? null, files: config.files, gateways, problems },
      complaint: [
        ...others.map(
          (gateway) => `${gatewayText(gateway)} was not notified: ${printableLine(gateway.reason ?? '')}.`,
        ),
        // From our own load: the gateway may find things that we do not.
        ...problems.map(({ server, message, hint }) =>
          printableLine(
            `server '${server}' cannot start: ${message}. ${hint} While it runs, it keeps its old definition.`,
          ),
        ),
      ]
        .map((line) => `${program}: ${line}\n`)
        .join(''),
      text: () =>
        `Notified ${counted(told.length, 'gateway')} to reload ${what}` +
        `${told.length === 0 ? '.' : ':'}\n` +
        told.map((gateway) => `  ${gatewayText(gateway)}\n`).join(''),
    };
  },
};

/** Nothing needs to be restarted: the gateway continues with its old configuration. */
function withNextStep(error: unknown, program: string): unknown {
  if (!(error instanceof SwitchboardError) || error.code !== 'CONFIG_INVALID') return error;
  return new SwitchboardError(error.code, error.message, {
    hint: `Correct it and run: ${program} reload. Running gateways are unchanged.`,
    cause: error,
  });
}
