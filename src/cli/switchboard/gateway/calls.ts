import type { CallInfo, ConsoleEvent } from '../../../console/index.ts';
import { printableLine } from '../../../shared/printable.ts';
import { usage } from '../../kit/arguments.ts';
import { right, table } from '../../kit/table.ts';
import type { CliCommand } from '../command.ts';
import { observeGateways, printUntilStopped } from '../console/observe-gateways.ts';

const ABOUT_RECORDING =
  'Calls are recorded only while a console or this command with --follow is running. They are kept in memory, ' +
  'without secrets.';

export const callsCommand: CliCommand = {
  about: [
    'Shows the calls of all clients of your gateways: time, client, server, tool, outcome, duration and size of the ' +
      'result.',
    ABOUT_RECORDING,
    'With --follow, prints each call when it finishes, until you press Ctrl-C; with --json, prints one JSON object per ' +
      'line for each change of a call. `$0 calls cancel` cancels a running call.',
  ],
  flags: [
    { name: 'follow', short: 'f', summary: 'show calls as they happen' },
    { name: 'server', value: 'SERVER', summary: 'only calls to this server' },
  ],
  examples: [
    ['$0 calls --follow', 'calls as they finish'],
    ['$0 calls --follow --server github', 'one server'],
    ["$0 calls --json | jq '.calls[] | select(.outcome == null)'", 'running calls, while a console is open'],
  ],
  async run({ words, flags }, context) {
    const { program } = context.variant;
    if (words.length > 0)
      throw usage('calls takes no arguments.', `\`${program} calls cancel ID\` cancels one.`);
    const server = flags.get('server');
    const wanted = (call: CallInfo): boolean => server === undefined || call.server === server;
    const isJson = flags.has('json');
    const isFollowing = flags.has('follow');
    const { print, untilStopped } = printUntilStopped(context);
    const { model, links } = await observeGateways(context, ['calls'], (events) => {
      if (!isFollowing) return;
      const calls = callsIn(events).filter(wanted);
      print(isJson ? calls.map((call) => JSON.stringify(call)) : calls.filter(isOver).map(lineText));
    });
    if (isFollowing) {
      await untilStopped();
      links.close();
      return { data: null, text: () => '' };
    }
    const calls = [...model.calls].filter(wanted);
    links.close();
    return {
      data: { calls },
      text: (style) =>
        calls.length === 0
          ? ''
          : table(
              ['ID', 'TIME', 'CLIENT', 'CALL', 'OUTCOME', right('MS'), right('BYTES')],
              calls.map(row),
              style.bold,
              style.columns,
            ),
      complaint: calls.length === 0 ? `No calls are recorded. ${ABOUT_RECORDING}\n` : '',
    };
  },
};

export const callsCancelCommand: CliCommand = {
  about: [
    'Cancels a running call: the client gets an error, and the server is notified. `$0 calls` shows the ID. This works ' +
      'only while a console or `$0 calls --follow` is running.',
  ],
  flags: [],
  examples: [['$0 calls cancel 4242-lx2c:17', 'the call with this ID']],
  async run({ words }, context) {
    const [id, another] = words;
    const [, gateway, call] = /^(.+):(\w+)$/.exec(id ?? '') ?? [];
    if (gateway === undefined || call === undefined || another !== undefined)
      throw usage(
        'calls cancel needs the ID of one call.',
        `\`${context.variant.program} calls\` shows them.`,
      );
    const { links } = await observeGateways(context, ['calls']);
    try {
      await links.request(gateway, 'calls.cancel', { gateway, call });
    } finally {
      links.close();
    }
    return { data: { cancelled: id }, text: () => `Cancelled ${printableLine(id ?? '')}.\n` };
  },
};

function callsIn(events: readonly ConsoleEvent[]): CallInfo[] {
  return events.flatMap((event) => (event.type === 'call' ? [event.call] : []));
}

function isOver({ outcome }: CallInfo): boolean {
  return outcome !== null;
}

function row(call: CallInfo): string[] {
  return [
    `${call.gateway}:${call.id}`,
    new Date(call.at).toISOString().slice(11, 19),
    printableLine(call.clientName ?? '–'),
    printableLine(whatOf(call)),
    call.outcome === null ? 'running' : printableLine(call.outcome),
    call.ms === null ? '–' : String(Math.round(call.ms)),
    call.bytes === null ? '–' : String(call.bytes),
  ];
}

/** `github/create_issue`, or the method if no server is involved. */
function whatOf({ server, name, subtool, method }: CallInfo): string {
  const what = subtool ?? name ?? method;
  return server === null ? what : `${server}/${what}`;
}

function lineText(call: CallInfo): string {
  const [id = '', time = '', client = '', what = '', outcome = '', ms = '', bytes = ''] = row(call);
  return `${time} ${client} ${what} ${outcome} ${ms} ms ${bytes} bytes  ${id}`;
}
