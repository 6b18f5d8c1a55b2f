import { inConfigOrder, type LoadedConfig } from '../../../config/index.ts';
import { stateDirectory } from '../../../shared/paths.ts';
import { printableLine } from '../../../shared/printable.ts';
import type { CliCommand } from '../command.ts';
import { commandText } from '../../../config/index.ts';
import { compoundData, partsText } from './compounds.ts';
import { usage } from '../../kit/arguments.ts';
import type { StoredServerState, GatewayStateFile } from '../gateway/state-file.ts';
import { isSameProject, runningGateways } from '../gateway/running-gateways.ts';
import { shortPath } from '../../kit/text.ts';
import type { Style } from '../../kit/style.ts';
import { table } from '../../kit/table.ts';
import { unusableData, noServersText } from './select-servers.ts';
import { inspectServers } from './inspect-servers.ts';

export const listCommand: CliCommand = {
  summary: 'list the configured servers and their state',
  about: [
    'Shows for each server the tools a host sees, its state, its command or address, and the file that ' +
      'defines it. Starts no server. Environment variables are shown by name, never by value.',
    'The state comes from a running gateway with the same configuration: idle, starting, running with its ' +
      'process ID, or crashed with the reason. Running servers that are not configured are listed too: they ' +
      'were added at run time, or have been removed from the file since.',
  ],
  flags: [],
  examples: [
    ['$0 list', "in this directory's project"],
    ['$0 list --config ../app/$CONFIG', 'in another project'],
    ["$0 list --json | jq -r '.servers[].name'", 'only the names'],
    ['$0 list --json | jq \'.servers[] | select(.state.kind == "crashed")\'', 'crashed servers'],
  ],
  async run({ words }, context) {
    const { program } = context.variant;
    if (words.length > 0)
      throw usage('list takes no arguments.', `${program} tools SERVER shows one server.`);
    const config = await context.loadConfig('tells of unusable');
    const app = context.open(config);
    const gateways = await runningGateways(stateDirectory(context.env), config);
    const inspected = await inspectServers(app, config.servers, context);
    const servers = inspected.map(({ server, presentation, command }) => ({
      name: server.name,
      ...presentation,
      offer: server.offer,
      state: stateOf(server.name, gateways) ?? null,
      kind: server.kind,
      ...command,
      ...(server.kind === 'remote' ? { transport: server.transport } : {}),
      ...(server.kind === 'stdio' ? { cwd: server.written.cwd } : {}),
      isolation: server.isolation,
      source: server.origin,
    }));
    const { disabled, unusable, compounds } = config;
    const others = gateways
      .filter((gateway) => isSameProject(gateway, config))
      .flatMap((gateway) => unconfigured(gateway, config));
    return {
      data: {
        config: config.file ?? null,
        files: config.files,
        servers,
        unusable: unusable.map(unusableData),
        disabled,
        unconfigured: others,
        compounds: compounds.map(compoundData),
        gateways: gateways.map(({ pid, program: name, since }) => ({ pid, program: name, since })),
      },
      text: (style) => {
        if (servers.length + unusable.length + disabled.length + others.length === 0)
          return noServersText(context.variant);
        const usable = new Map(inspected.map((each) => [each.server.name, each]));
        const rows = inConfigOrder(config).map((server) => {
          const file = shortPath(server.origin.file, context.cwd);
          const name = printableLine(server.name);
          const found = usable.get(server.name);
          if (found === undefined) return [name, '(not available)', '–', '–', file];
          const { shownAs, command } = found;
          return [name, shownAs, stateText(stateOf(server.name, gateways)), commandText(command), file];
        });
        rows.push(...disabled.map((name) => [printableLine(name), '(off)']));
        rows.push(
          ...others.map(({ name, state, gateway, addedAtRunTime }) => {
            const why = addedAtRunTime ? 'added at run time' : 'no longer configured; reload stops it';
            const who = gateways.length > 1 ? ` (pid ${gateway})` : '';
            return [printableLine(name), '–', stateText(state), '–', why + who];
          }),
        );
        const remote = servers.some((server) => server.kind === 'remote');
        const how = remote ? 'COMMAND OR ADDRESS' : 'COMMAND';
        const titles = ['SERVER', 'TOOLS', 'STATE', how, 'DEFINED IN'];
        return [
          table(titles, rows, style.bold, style.columns),
          compoundTable(config, context.cwd, style),
          unusable.map(unusableText).join(''),
          gatewaysText(gateways),
        ]
          .filter((part) => part !== '')
          .join('\n');
      },
    };
  },
};

/** A server that a gateway runs and that the configuration does not contain. */
interface Unconfigured {
  readonly name: string;
  readonly state: StoredServerState;
  /** The process ID of the gateway. */
  readonly gateway: number;
  /** Otherwise it was in a file when that was last read. */
  readonly addedAtRunTime: boolean;
}

function unconfigured({ pid, servers, added }: GatewayStateFile, config: LoadedConfig): Unconfigured[] {
  const known = new Set([...config.servers, ...config.unusable].map((server) => server.name));
  return Object.entries(servers)
    .filter(([name, { kind }]) => !known.has(name) && kind !== 'stopped')
    .map(([name, state]) => ({ name, state, gateway: pid, addedAtRunTime: added.includes(name) }));
}

function stateOf(server: string, [newest]: readonly GatewayStateFile[]): StoredServerState | undefined {
  return newest !== undefined && Object.hasOwn(newest.servers, server) ? newest.servers[server] : undefined;
}

/** The longest reason in the table; --json has the complete reason. */
const REASON_CHARS = 60;

function stateText(state: StoredServerState | undefined): string {
  if (state === undefined) return '–';
  switch (state.kind) {
    case 'running':
      return (
        (state.pid === null ? 'running' : `running pid ${state.pid}`) +
        (state.problem === undefined ? '' : `, but: ${state.problem}`)
      );
    case 'crashed':
      return `crashed: ${shortened(printableLine(state.reason))}`;
    default:
      return state.kind;
  }
}

function shortened(reason: string): string {
  return reason.length <= REASON_CHARS ? reason : `${reason.slice(0, REASON_CHARS - 1)}…`;
}

function unusableText({ name, reason, nextStep }: LoadedConfig['unusable'][number]): string {
  return `${printableLine(`${name} is not available: ${reason}. ${nextStep}`)}\n`;
}

function compoundTable({ compounds }: LoadedConfig, cwd: string, style: Style): string {
  if (compounds.length === 0) return '';
  const rows = compounds.map((compound) => [
    compound.name,
    printableLine(partsText(compound)),
    shortPath(compound.origin.file, cwd),
  ]);
  return table(['COMPOUND TOOL', 'CALLS', 'DEFINED IN'], rows, style.bold, style.columns);
}

/** The gateway that reported the states. */
function gatewaysText([newest, ...others]: readonly GatewayStateFile[]): string {
  if (newest === undefined) return '';
  const who = `${printableLine(newest.program)}, pid ${newest.pid}, since ${printableLine(newest.since)}`;
  if (others.length === 0) return `State reported by ${who}.\n`;
  return `State reported by the newest of ${others.length + 1} gateways: ${who}.\n`;
}
