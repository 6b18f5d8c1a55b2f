import type { ConsoleEvent, LogLine } from '../../../console/index.ts';
import { printableLine } from '../../../shared/printable.ts';
import { usage, type ParsedArguments } from '../../kit/arguments.ts';
import type { CliCommand } from '../command.ts';
import { observeGateways, printUntilStopped } from '../console/observe-gateways.ts';

export const logsCommand: CliCommand = {
  words: '[server]',
  about: [
    'Shows the latest log lines of all your running gateways, and what their servers wrote to stderr: the last 200 ' +
      'lines of each, or more if a console is open. With a server, shows only its lines.',
    'With --follow, keeps printing new lines until you press Ctrl-C; with --json, prints one JSON object per line. ' +
      'To keep logs in files, set "logDirectory" in the configuration.',
  ],
  flags: [
    { name: 'follow', short: 'f', summary: 'keep printing new lines; Ctrl-C stops' },
    { name: 'search', value: 'TEXT', summary: 'only lines that contain this text, ignoring case' },
  ],
  examples: [
    ['$0 logs', 'the latest lines of all gateways'],
    ['$0 logs github --follow', 'follow one server'],
    ['$0 logs --search failed', 'lines about failures'],
    ["$0 logs --json | jq -r '.lines[].text'", 'only the text of each line'],
  ],
  async run(given, context) {
    const wanted = filterOf(given);
    const isFollowing = given.flags.has('follow');
    const isJson = given.flags.has('json');
    const shown = (line: LogLine): string => (isJson ? JSON.stringify(line) : lineText(line));
    const { print, untilStopped } = printUntilStopped(context);
    const { model, links } = await observeGateways(context, ['logs'], (events) => {
      if (isFollowing) print(linesIn(events).filter(wanted).map(shown));
    });
    const lines = [...model.lines].filter(wanted).sort((a, b) => a.at - b.at);
    if (isFollowing) {
      print(lines.map(shown));
      await untilStopped();
    }
    links.close();
    if (isFollowing) return { data: null, text: () => '' };
    return {
      data: { lines },
      text: () => lines.map((line) => `${lineText(line)}\n`).join(''),
      complaint:
        [...model.gateways].length === 0 ? `${context.variant.program}: no gateway is running.\n` : '',
    };
  },
};

function filterOf({ words, flags }: ParsedArguments): (line: LogLine) => boolean {
  const [server, another] = words;
  if (another !== undefined) throw usage('logs takes one server.', 'Leave it out to see all lines.');
  const search = flags.get('search')?.toLowerCase() ?? '';
  return (line) =>
    (server === undefined || line.server === server) && line.text.toLowerCase().includes(search);
}

function linesIn(events: readonly ConsoleEvent[]): LogLine[] {
  return events.flatMap((event) => (event.type === 'log' ? event.lines : []));
}

function lineText({ gateway, at, server, level, text }: LogLine): string {
  const [pid = ''] = gateway.split('-', 1);
  const who = server === null ? (level ?? '') : `[${printableLine(server)}]`;
  return `${new Date(at).toISOString()} ${pid} ${who} ${printableLine(text)}`;
}
