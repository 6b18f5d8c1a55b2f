import { matchGlob } from '../../shared/glob.ts';
import { printable, printableLine } from '../../shared/printable.ts';
import type { Command } from '../command.ts';
import { Exit, failureData, type FailureData } from '../failure.ts';
import type { Style } from '../style.ts';
import { described, selected, survey, type Surveyed } from '../survey.ts';
import { pad, table, width } from '../table.ts';
import { saving, tokenCost, type TokenCost } from '../token-cost.ts';
import { lastWords } from '../last-words.ts';

interface SubtoolReport {
  readonly name: string;
  readonly summary: string;
  readonly hidden: boolean;
  /** The setting that hides it. */
  readonly hiddenBy?: 'expose.allow' | 'expose.deny';
}

interface ServerReport {
  readonly name: string;
  readonly suite: string;
  readonly ok: boolean;
  /** From the start of its process to its list of tools, in milliseconds. */
  readonly ms: number;
  readonly tools?: readonly SubtoolReport[];
  /** Patterns of expose.allow that match no tool: most likely a slip, or a tool with a new name. */
  readonly unmatched?: readonly string[];
  readonly incomplete?: string;
  readonly tokens?: TokenCost;
  readonly error?: FailureData;
}

export const dryRun: Command = {
  name: 'dry-run',
  words: '[server…]',
  summary: 'what a host would see, and the tokens that saves',
  about: [
    'Starts every server once (or those named), lists its subtools, marks those that expose.allow and expose.deny ' +
      'keep from hosts, and ends it again. `switchboard --dry-run` does the same.',
    'Then it compares what the tools cost a model in every conversation: flat, each with name, description and input ' +
      'schema, against the one suite tool per server. "Opened" is what a model reads once when it looks into a suite. ' +
      'The numbers are estimates (o200k tokens, within a few percent).',
  ],
  flags: [],
  examples: [
    ['switchboard --dry-run', 'all servers of this project'],
    ['switchboard dry-run github', 'one server'],
    ["switchboard --dry-run --json | jq '.tokens'", 'the totals for a script'],
  ],
  async run({ words }, context) {
    const config = await context.loadConfig();
    const surveyed = await survey(config, selected(config, words), context);
    const servers = surveyed.map(reportOf);
    const total = sum(servers.flatMap((server) => server.tokens ?? []));
    const saved = saving(total);
    const remarks = surveyed.map((each) =>
      each.kind === 'failed' ? lastWords(context.unseenOutput(each.server.name), each.error) : undefined,
    );
    return {
      exitCode: servers.every((server) => server.ok) ? Exit.ok : Exit.failed,
      data: {
        config: config.file ?? null,
        servers,
        tokens: { ...total, savedPercent: percent(saved) ?? null },
      },
      remark: remarks.join('') || undefined,
      text: (style) => {
        if (servers.length === 0) {
          return 'No server is configured. `switchboard doctor` says where they are looked for.\n';
        }
        const parts = servers.map((server) => serverText(server, style));
        if (servers.some((server) => server.ok)) parts.push(costTable(servers, total, style));
        return parts.join('\n');
      },
    };
  },
};

function reportOf(surveyed: Surveyed): ServerReport {
  const { server, suite, admits, ms } = surveyed;
  const head = { name: server.name, suite: suite.name, ms };
  if (surveyed.kind === 'failed') return { ...head, ok: false, error: failureData(surveyed.error) };
  const { allow = [], deny = [] } = server.suite;
  return {
    ...head,
    ok: true,
    tools: described(surveyed.tools, server.suite.summaryMaxChars).map(({ name, summary }) => {
      if (admits(name)) return { name, summary, hidden: false };
      const denied = deny.some((pattern) => matchGlob(pattern, name));
      return { name, summary, hidden: true, hiddenBy: denied ? 'expose.deny' : 'expose.allow' };
    }),
    unmatched: allow.filter((pattern) => !surveyed.tools.some((tool) => matchGlob(pattern, tool.name))),
    ...(surveyed.incomplete === undefined ? {} : { incomplete: surveyed.incomplete }),
    tokens: tokenCost(surveyed),
  };
}

function sum(costs: readonly TokenCost[]): TokenCost {
  const add = (key: keyof TokenCost): number => costs.reduce((total, cost) => total + cost[key], 0);
  return { flat: add('flat'), suite: add('suite'), introspect: add('introspect') };
}

function serverText(server: ServerReport, style: Style): string {
  const head = `${style.bold(printableLine(server.name))} → ${style.bold(server.suite)}`;
  if (server.error !== undefined) {
    const { message, hint } = server.error;
    const next = hint === undefined ? '' : `  ${printable(hint)}\n`;
    return `${head}\n  ${style.bad('failed')}: ${printable(message)}\n${next}`;
  }
  const tools = server.tools ?? [];
  const hidden = tools.filter((tool) => tool.hidden).length;
  const counted = `${count(tools.length, 'subtool')}${hidden === 0 ? '' : `, ${hidden} hidden`}, ${server.ms} ms`;
  const widest = Math.min(32, Math.max(0, ...tools.map((tool) => width(printableLine(tool.name)))));
  const lines = tools.map((tool) => {
    const name = pad(printableLine(tool.name), widest);
    if (tool.hiddenBy !== undefined) return style.dim(`- ${name}  hidden by ${tool.hiddenBy}`);
    return `  ${style.good(name)}  ${printableLine(tool.summary)}`.trimEnd();
  });
  for (const pattern of server.unmatched ?? []) {
    lines.push(style.caution(`! expose.allow names ${JSON.stringify(pattern)}, which matches no tool`));
  }
  if (server.incomplete !== undefined) lines.push(style.caution(`! ${printableLine(server.incomplete)}`));
  return `${head}  ${style.dim(counted)}\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

function costTable(servers: readonly ServerReport[], total: TokenCost, style: Style): string {
  const row = (name: string, tools: number, cost: TokenCost): string[] => {
    const saved = percent(saving(cost));
    const saves = saved === undefined ? '' : `${saved} %`;
    return [name, String(tools), about(cost.flat), about(cost.suite), saves, about(cost.introspect)];
  };
  const worked = servers.flatMap(({ name, tools = [], tokens }) =>
    tokens === undefined ? [] : [{ name, tools, tokens }],
  );
  const rows = worked.map(({ name, tools, tokens }) => row(printableLine(name), tools.length, tokens));
  if (worked.length > 1)
    rows.push(
      row(
        'total',
        worked.reduce((all, { tools }) => all + tools.length, 0),
        total,
      ),
    );
  const right = (title: string) => ({ title, align: 'right' }) as const;
  return table(
    [{ title: 'TOKENS' }, right('TOOLS'), right('FLAT'), right('SUITE'), right('SAVED'), right('OPENED')],
    rows,
    style.bold,
  );
}

function about(tokens: number): string {
  return `≈ ${tokens.toLocaleString('en-US')}`;
}

/** In percent, to one digit. Rounded down: it is never 100 while something is left to pay. */
function percent(fraction: number | undefined): number | undefined {
  return fraction === undefined ? undefined : Math.floor(fraction * 1000) / 10;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
