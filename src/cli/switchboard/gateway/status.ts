import type { ClientInfo, GatewayInfo, ServerInfo } from '../../../console/index.ts';
import { printableLine } from '../../../shared/printable.ts';
import { usage } from '../../kit/arguments.ts';
import { right, table } from '../../kit/table.ts';
import { counted, secondsText, shortPath, tokensText } from '../../kit/text.ts';
import type { Style } from '../../kit/style.ts';
import type { CliCommand } from '../command.ts';
import { observeGateways } from '../console/observe-gateways.ts';

export const statusCommand: CliCommand = {
  about: [
    'Shows all your running gateways on this machine, no matter which host started them, with their clients and ' +
      'servers: state, process ID, tools, and about how many tokens the tools cost each client. Starts no servers. ' +
      '`$0 console` shows the same on a web page, live.',
    '`$0 list` shows the servers of one configuration, even if no gateway is running.',
  ],
  flags: [],
  examples: [
    ['$0 status', 'all gateways'],
    [
      '$0 status --json | jq \'.servers[] | select(.state.kind == "failed")\'',
      'servers that failed, and why',
    ],
    ["$0 status --json | jq '.gateways[].pid'", 'process IDs of the gateways'],
  ],
  async run({ words }, context) {
    const { program } = context.variant;
    if (words.length > 0)
      throw usage('status takes no arguments.', `\`${program} list\` shows one configuration.`);
    const { model, links } = await observeGateways(context);
    const { gateways, servers, clients } = model.state({ stream: '', version: '', readOnly: true });
    links.close();
    return {
      data: { gateways, servers, clients },
      text: (style) =>
        gateways.length === 0
          ? 'No gateway is running. Start your host, or run `switchboard --http`.\n'
          : gateways
              .map((gateway) => gatewayText(gateway, servers, clients, { style, cwd: context.cwd }))
              .join('\n'),
    };
  },
};

function gatewayText(
  gateway: GatewayInfo,
  servers: readonly ServerInfo[],
  clients: readonly ClientInfo[],
  { style, cwd }: { readonly style: Style; readonly cwd: string },
): string {
  const { id, program, pid, since, config, url, live } = gateway;
  const own = clients.filter((client) => client.gateway === id);
  const names = own.map(({ name, version }) =>
    printableLine([name ?? 'unnamed', version ?? ''].join(' ').trim()),
  );
  const facts = [
    `pid ${pid}`,
    `up ${secondsText(Date.now() - since)}`,
    ...(url === null ? [] : [printableLine(url)]),
    shortPath(config, cwd),
    ...(live ? [] : ['an earlier version: only its servers are known']),
  ];
  const title = `${style.bold(printableLine(program))}  ${facts.join(', ')}\n`;
  const connected = `  ${counted(own.length, 'client')}${names.length === 0 ? '' : `: ${names.join(', ')}`}\n`;
  const rows = servers
    .filter((server) => server.gateway === id)
    .map((server) => [
      printableLine(server.name),
      stateText(server.state),
      server.offers.tools === null ? '–' : String(server.offers.tools),
      server.exposure,
      server.tokens === null
        ? '–'
        : `${tokensText(server.tokens.exposed)} of ${tokensText(server.tokens.flat)}`,
    ]);
  if (rows.length === 0) return `${title}${connected}  no servers\n`;
  return (
    title +
    connected +
    table(['SERVER', 'STATE', right('TOOLS'), 'EXPOSED AS', right('TOKENS')], rows, style.bold, style.columns)
  );
}

function stateText(state: ServerInfo['state']): string {
  switch (state.kind) {
    case 'running': {
      const pid = state.pid === null ? '' : ` pid ${state.pid}`;
      const problem = state.problem === null ? '' : `, but: ${printableLine(state.problem.message)}`;
      return `running${pid}, ${secondsText(Date.now() - state.since)}${problem}`;
    }
    case 'starting':
      return state.since === null ? 'starting' : `starting for ${secondsText(Date.now() - state.since)}`;
    case 'failed':
    case 'unusable':
      return `${state.kind}: ${printableLine(state.problem.message)}`;
    case 'needs-login':
      return `needs a login: ${printableLine(state.problem.nextStep ?? state.problem.message)}`;
    default:
      return state.kind;
  }
}
