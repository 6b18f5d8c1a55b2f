import { auditFile, HistoryReader, type AuditRecord, type HistoryFilter } from '../../../audit/index.ts';
import { stateDirectory } from '../../../shared/paths.ts';
import { printableLine } from '../../../shared/printable.ts';
import { usage, type ParsedArguments } from '../../kit/arguments.ts';
import { table } from '../../kit/table.ts';
import { counted } from '../../kit/text.ts';
import type { CliCommand, Context } from '../command.ts';
import { readTokens, tokenFile } from '../token/token-file.ts';
import { followHistory } from './follow-history.ts';
import { sinceTime } from './since-time.ts';

export const historyCommand: CliCommand = {
  about: [
    'Shows which tools were called, by which client, and the outcome, newest last. Calls are recorded only if the ' +
      'configuration has "audit": true. See docs/guide/audit.md.',
    'Each line shows the time, client, server, tool, outcome (ok, tool error, error, cancelled, or an error code), ' +
      'duration in milliseconds, and size of the response in bytes. --json prints all members; with --follow, it ' +
      'prints one record per line.',
  ],
  flags: [
    { name: 'server', value: 'SERVER', summary: 'only calls to this server' },
    { name: 'tool', value: 'TOOL', summary: 'only calls to this tool' },
    {
      name: 'client',
      value: 'NAME',
      summary:
        'only calls by this client, with this token (see `$0 token`), or by this user (see docs/guide/identity.md)',
    },
    { name: 'failed', summary: 'only calls that did not succeed' },
    {
      name: 'since',
      value: 'TIME',
      summary: 'only newer calls: 30s, 10m, 2h or 3d ago, or since 2026-01-31T14:00',
    },
    { name: 'lines', short: 'n', value: 'N', summary: 'how many calls (default 50; 0 for all)' },
    { name: 'follow', short: 'f', summary: 'keep printing new calls; Ctrl-C stops' },
  ],
  examples: [
    ['$0 history', 'the last 50 calls'],
    ['$0 history --server github --failed --since 2h', 'calls that failed in the last two hours'],
    ['$0 history -f', 'new calls as they finish'],
    ["$0 history -n 0 --json | jq '.calls[] | .tool'", 'all calls, for scripts'],
  ],
  async run(given, context) {
    const { env, variant } = context;
    if (given.words.length > 0)
      throw usage('history takes no names.', `For example: ${variant.program} history --server NAME`);
    const most = numberOf(given, 'lines') ?? (given.flags.has('follow') ? 10 : 50);
    const file = auditFile(stateDirectory(env));
    const names = namesOfPrincipals(context);
    const reader = new HistoryReader({
      file,
      filter: filterOf(given),
      principalName: (each) => names.get(each),
    });
    try {
      const { records, left } = last(reader.all(), most === 0 ? Infinity : most);
      if (given.flags.has('follow')) {
        await followHistory(reader, records, {
          json: given.flags.has('json'),
          text: (each) => lineOf(each, names),
        });
        return { data: undefined, text: () => '' };
      }
      return {
        data: {
          file,
          calls: records.map((record) => withName(record, names)),
          left,
          unreadable: reader.unreadable,
        },
        text: (style) => {
          if (records.length === 0)
            return `No calls are recorded${left === 0 ? ` in ${printableLine(file)}` : ''}.\n`;
          return table(
            TITLES,
            records.map((each) => cellsOf(each, names)),
            style.bold,
            style.columns,
          );
        },
        remark: [
          left === 0 ? '' : `${variant.program}: ${counted(left, 'older call')} not shown; -n 0 shows all.\n`,
          reader.unreadable === 0
            ? ''
            : `${variant.program}: ${counted(reader.unreadable, 'line')} of ${printableLine(file)} cannot be read.\n`,
        ].join(''),
      };
    } finally {
      reader.close();
    }
  },
};

const TITLES = ['TIME', 'CLIENT', 'SERVER', 'TOOL', 'OUTCOME', 'MS', 'BYTES'];

function filterOf(given: ParsedArguments): HistoryFilter {
  const { flags } = given;
  const since = flags.get('since');
  return {
    server: flags.get('server'),
    tool: flags.get('tool'),
    client: flags.get('client'),
    failed: flags.has('failed'),
    since: since === undefined ? undefined : sinceTime(since),
  };
}

function numberOf({ flags }: ParsedArguments, name: string): number | undefined {
  const text = flags.get(name);
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text)) throw usage(`--${name} must be a number.`, 'For example: -n 100');
  return Number(text);
}

/** The names of tokens, by the principal that the audit log records for them. */
function namesOfPrincipals({ env }: Context): ReadonlyMap<string, string> {
  try {
    return new Map(readTokens(tokenFile(env)).map(({ name, sha256 }) => [sha256.slice(0, 12), name]));
  } catch {
    // Other commands report what is wrong with the file.
    return new Map();
  }
}

function last(
  records: Iterable<AuditRecord>,
  most: number,
): { readonly records: readonly AuditRecord[]; readonly left: number } {
  let kept: AuditRecord[] = [];
  let count = 0;
  for (const record of records) {
    count++;
    kept.push(record);
    // Not one by one, which would take time for each record.
    if (kept.length > 2 * most + 1000) kept = kept.slice(-most);
  }
  const shown = kept.slice(-most);
  return { records: shown, left: count - shown.length };
}

function withName(record: AuditRecord, names: ReadonlyMap<string, string>): object {
  const name = record.principal === undefined ? undefined : names.get(record.principal);
  return name === undefined ? record : { ...record, token: name };
}

function cellsOf(record: AuditRecord, names: ReadonlyMap<string, string>): string[] {
  const { time, client = '–', principal, via, server = '–', tool = '–', outcome = '', ms, bytes } = record;
  if (record.dropped !== undefined)
    return [printableLine(time), '', '', `${counted(record.dropped, 'call')} not recorded`, '', '', ''];
  const token = principal === undefined ? '' : ` (${names.get(principal) ?? principal})`;
  return [
    printableLine(time),
    printableLine(`${client}${token}${via === undefined ? '' : `, ${via}`}`),
    printableLine(server),
    printableLine(tool),
    printableLine(outcome),
    String(ms ?? ''),
    String(bytes ?? ''),
  ];
}

function lineOf(record: AuditRecord, names: ReadonlyMap<string, string>): string {
  return cellsOf(record, names)
    .filter((cell) => cell !== '')
    .join('  ');
}
