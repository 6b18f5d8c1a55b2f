import {
  AGENT_BYTES,
  followServices,
  logs as read,
  type LogsOptions,
  type LogsResult,
  type YardContext,
} from '../../../switchyard/index.ts';
import { printable, printableLine } from '../../../shared/printable.ts';
import { usage, type ParsedArguments } from '../../kit/arguments.ts';
import { createStyle } from '../../kit/style.ts';
import { pad } from '../../kit/table.ts';
import type { YardCommand } from '../invocation.ts';
import { resolveTarget } from '../target.ts';
import { asLines, printedLines } from '../../kit/text.ts';

export const yardLogsCommand: YardCommand = {
  about: [
    'Shows the last lines that services have written since their last start, stdout and stderr together, without ' +
      'colours. Earlier runs are kept: --run 1 is the previous one.',
    '--grep takes a regular expression, or plain text if it is not a valid one; it is case-sensitive only if it ' +
      'contains capitals. --since uses the timestamps at the start of lines, and the start time of the run.',
    'On a terminal, lines are shown as they are. In other output (a pipe, --json) secrets from env files are masked, ' +
      'because an agent may read it; the log file itself has them.',
    'The first argument may be a branch or a service; use --branch if a name is both.',
  ],
  flags: [
    { name: 'branch', value: 'BRANCH', summary: 'the branch; the argument is then a service' },
    { name: 'lines', short: 'n', value: 'N', summary: 'how many lines of each service (default 80)' },
    { name: 'follow', short: 'f', summary: 'keep printing new lines; Ctrl-C stops' },
    { name: 'grep', value: 'TEXT', summary: 'only lines that match' },
    { name: 'fixed', short: 'F', summary: 'treat --grep as plain text, not as a regular expression' },
    {
      name: 'since',
      value: 'TIME',
      summary: 'only newer lines: 30s, 10m or 2h ago, or since 2026-01-31T14:00',
    },
    {
      name: 'max-bytes',
      value: 'N',
      summary: `maximum size in bytes (default: no limit; ${AGENT_BYTES} with --json)`,
    },
    {
      name: 'run',
      value: 'N',
      summary: 'an earlier run: 1 is the previous one, 3 the oldest (default 0, the current run)',
    },
  ],
  examples: [
    ['$0 logs', 'all services of the current branch'],
    ['$0 logs feature-x', 'all services of another branch'],
    ['$0 logs feature-x web', 'one of them'],
    ['$0 logs web -f', 'one service, with new output'],
    ['$0 logs api --grep error --since 10m', 'recent errors'],
    ['$0 logs api --run 1 -n 20', 'the end of the previous run'],
  ],
  run(given, invocation) {
    // A person at a terminal may see the secrets of the project.
    const limits = { ...limitsOf(given), secrets: !invocation.json && process.stdout.isTTY };
    if (!given.flags.has('follow'))
      return invocation.inRecordedYard(async (yard) => {
        const options = { ...(await meantLogs(yard, given)), ...limits };
        const found = await read(yard, invocation.json ? { maxBytes: AGENT_BYTES, ...options } : options);
        return {
          data: found,
          text: () => textOf(found),
          complaint: remarksOn(found, options),
        };
      });
    if (invocation.json) throw usage('--json cannot be used with --follow.', 'Poll with --since instead.');
    for (const flag of ['run', 'max-bytes'])
      if (given.flags.has(flag))
        throw usage(`--${flag} cannot be used with --follow.`, 'Leave one of them out.');
    return invocation.inRecordedYard(async (yard) => {
      await follow(yard, { ...(await meantLogs(yard, given)), ...limits });
      return { data: undefined, text: () => '' };
    });
  },
};

/** Prints the output of services as they write it, until stdout is closed. Ctrl-C ends the program as usual. */
async function follow(yard: YardContext, options: LogsOptions): Promise<void> {
  const ended = new AbortController();
  const { stdout } = process;
  stdout.on('error', () => ended.abort());
  const style = createStyle(stdout, yard.env);
  let prefix: (service: string) => string = () => '';
  await followServices(yard, {
    ...options,
    signal: ended.signal,
    onStart: (services) => {
      const widest = Math.max(...services.map((service) => service.length));
      if (services.length > 1) prefix = (service) => `${style.dim(`${pad(service, widest)} |`)} `;
    },
    onLines: ({ service }, lines) => {
      const before = prefix(printableLine(service));
      const text = lines.map((line) => `${before}${printable(line)}\n`).join('');
      // Waits for slow readers, so that output does not pile up in memory.
      return new Promise<void>((resolve) => void stdout.write(text, () => resolve()));
    },
  });
}

async function meantLogs(
  yard: YardContext,
  given: ParsedArguments,
): Promise<Pick<LogsOptions, 'branch' | 'service'>> {
  const { branch, services } = await resolveTarget(yard, 'logs', given);
  const [service, another] = services;
  if (another !== undefined)
    throw usage(
      `logs takes one service, so ${JSON.stringify(another)} is one too many.`,
      'Leave out the service to see all services of the branch.',
    );
  return { branch, service };
}

function limitsOf({ flags }: ParsedArguments): Omit<LogsOptions, 'branch' | 'service'> {
  const number = (name: string, least: number): number | undefined => {
    const text = flags.get(name);
    if (text === undefined) return undefined;
    if (!/^\d+$/.test(text) || Number(text) < least)
      throw usage(`--${name} must be ${least === 0 ? 'a number' : `at least ${least}`}`);
    return Number(text);
  };
  const lines = number('lines', 1);
  const maxBytes = number('max-bytes', 1);
  const run = number('run', 0);
  return {
    grep: flags.get('grep'),
    fixed: flags.has('fixed'),
    since: flags.get('since'),
    ...(lines === undefined ? {} : { lines }),
    ...(maxBytes === undefined ? {} : { maxBytes }),
    ...(run === undefined ? {} : { run }),
  };
}

function textOf({ logs: found }: LogsResult): string {
  return found
    .map(({ service, branch, lines }) => {
      const title = found.length > 1 ? [`==> ${printableLine(service)} (${printableLine(branch)}) <==`] : [];
      return asLines([...title, ...lines.map(printable)]);
    })
    .join('');
}

/** Warnings that the lines alone do not show. */
function remarksOn({ logs: found }: LogsResult, { maxBytes, since }: LogsOptions): string {
  const remarks = found.flatMap(({ service, truncated, undated }) => [
    ...(truncated && maxBytes !== undefined ? [`${service}: output truncated to --max-bytes`] : []),
    ...(undated === true
      ? [`${service}: no line has a timestamp, so some may be older than ${since ?? ''}`]
      : []),
  ]);
  return printedLines(remarks);
}
