import type { App } from '../../../app/index.ts';
import {
  describeWarning,
  inConfigOrder,
  MANAGEMENT_TOOLS,
  type CompoundDefinition,
  type LoadedConfig,
  type ServerDefinition,
  type UnusableServer,
} from '../../../config/index.ts';
import { plain, plainLine, printableLine } from '../../../shared/printable.ts';
import { estimateTokens } from '../../../shared/tokens.ts';
import { compareExposures, comparisonText } from './compare-exposures.ts';
import type { CliCommand } from '../command.ts';
import { missingParts, partsText } from './compounds.ts';
import { Exit } from '../../../shared/exit-codes.ts';
import { failureData, type FailureData } from '../../kit/output.ts';
import { counted, shortPath, tokensText } from '../../kit/text.ts';
import type { Style } from '../../kit/style.ts';
import {
  listedTools,
  type ListedTool,
  type ProbedServer,
  type ProbedTool,
  type HidingSetting,
  summarizeTool,
} from './probe-servers.ts';
import { pad, right, table, width } from '../../kit/table.ts';
import { costWhenFlat, listedCost, saving, tokenCost, type TokenCost } from './token-cost.ts';
import { selectServers, noServersText } from './select-servers.ts';
import {
  answerData,
  failedOutput,
  startServers,
  type StartedServer,
  presentationText,
  type Presentation,
} from './inspect-servers.ts';

interface ToolReport {
  /** The server's own name for the tool. */
  readonly name: string;
  /** The name that hosts use; null if they cannot call it. */
  readonly exposed: string | null;
  readonly summary: string;
  readonly hidden: boolean;
  /** The setting that hides the tool. */
  readonly hiddenBy?: HidingSetting;
}

interface ServerReport extends Presentation, Partial<ReturnType<typeof answerData<ToolReport>>> {
  readonly name: string;
  /** Where the server is defined. */
  readonly source: ServerDefinition['origin'];
  readonly ok: boolean;
  /** From the start of its process to its list of tools, in milliseconds. Default: it was not started. */
  readonly ms?: number;
  readonly tokens?: TokenCost;
  /** What it would cost flat, if that is less than as a suite. */
  readonly tokensWhenFlat?: number;
  readonly error?: FailureData;
}

/** The tools with which clients add and remove servers, if there are any. */
interface ManagementReport {
  readonly tools: readonly string[];
  readonly tokens: TokenCost;
}

/** The tools with which clients search for others, if there are any. */
interface SearchReport {
  readonly tools: readonly string[];
  readonly tokens: TokenCost;
}

interface CompoundReport {
  readonly name: string;
  readonly parts: string;
  /** The parts that do not exist. */
  readonly missing: readonly string[];
  readonly tokens: TokenCost;
}

export const dryRunCommand: CliCommand = {
  about: [
    'Starts each server once (or only the named ones), or connects to it, lists its tools as a host would ' +
      'see them, marks hidden tools, and stops it. `$0 --dry-run` does the same.',
    'Then it compares how many tokens every conversation starts with. FLAT is every tool with its name, ' +
      'description and input schema, plus the instructions of the servers, as without a gateway. LISTED is ' +
      'what a host gets from this gateway. OPENED is what a model reads when it opens a suite. A suite that ' +
      'costs more than its tools is marked. A server that fails is listed with the reason. The numbers are ' +
      'estimates (o200k tokens, within a few percent).',
    'Last, it compares the exposures for all servers together and recommends one. START is what every ' +
      'conversation starts with, TASK adds what a model reads to find the tools of two servers.',
  ],
  flags: [],
  examples: [
    ['$0 --dry-run', 'all servers'],
    ['$0 dry-run github', 'one server'],
    ["$0 --dry-run --json | jq '.tokens'", 'the totals as JSON'],
  ],
  async run({ words }, context) {
    const config = await context.loadConfig(words.length === 0 ? 'tells of unusable' : undefined);
    const app = context.open(config);
    const inspected = await startServers(app, selectServers(config, words), context);
    const probed = inspected.map(({ probe }) => probe);
    const answered = new Map(inspected.map((each) => [each.server.name, reportOf(each)]));
    // A server that is not available is not started, but hosts see it.
    const shown = inConfigOrder(config).flatMap((server) => {
      const report =
        server.kind !== 'unusable'
          ? answered.get(server.name)
          : words.length === 0
            ? unusableReport(server, listedTools(app, server))
            : undefined;
      return report === undefined ? [] : [{ server, report }];
    });
    const servers = shown.map(({ report }) => report);
    // These warnings are about all servers and would be wrong for a subset.
    const compounds =
      words.length > 0 ? [] : config.compounds.map((each) => compoundReport(each, probed, app.gateway.tools));
    const management = words.length > 0 ? undefined : managementReport(config, app.gateway.tools);
    const search = words.length > 0 ? undefined : searchReport(app.gateway.tools);
    const comparison = words.length > 0 ? undefined : compareExposures(app, probed);
    const instructions = words.length > 0 ? undefined : estimateTokens(app.instructions());
    const total = sum([
      ...servers.flatMap((server) => server.tokens ?? []),
      ...compounds.map((each) => each.tokens),
      ...(management === undefined ? [] : [management.tokens]),
      ...(search === undefined ? [] : [search.tokens]),
      ...(instructions === undefined ? [] : [{ flat: 0, listed: instructions, introspect: 0 }]),
    ]);
    return {
      exitCode: servers.every((server) => server.ok) ? Exit.ok : Exit.failed,
      data: {
        config: config.file ?? null,
        files: config.files,
        servers,
        compounds,
        management: management ?? null,
        search: search ?? null,
        instructions: instructions === undefined ? null : { tokens: instructions },
        tokens: { ...total, savedPercent: percent(saving(total)) ?? null },
        exposures: comparison ?? null,
      },
      remark: failedOutput(inspected, context),
      text: (style) => {
        if (servers.length === 0 && management === undefined) return noServersText(context.variant, config);
        const parts = shown.map(({ server, report }) =>
          serverText(report, presentationText(server, report), context.cwd, style),
        );
        if (compounds.length > 0) parts.push(compoundsText(compounds, style));
        if (management !== undefined)
          parts.push(`${style.bold('management tools')}\n  ${management.tools.join(', ')}\n`);
        if (servers.some(({ tokens }) => tokens !== undefined) || management !== undefined)
          parts.push(costTable({ servers, compounds, management, search, instructions, total }, style));
        if (comparison !== undefined) parts.push(comparisonText(comparison, style));
        return parts.join('\n');
      },
    };
  },
};

function reportOf({ server, presentation, probe }: StartedServer): ServerReport {
  const { ms } = probe;
  const head = { name: server.name, ...presentation, ms, source: server.origin };
  if (probe.kind === 'failed') return { ...head, ...failed(probe.listed), error: failureData(probe.error) };
  const report = ({ name, own, offered, exposed, hiddenBy }: ProbedTool): ToolReport => ({
    name,
    exposed: exposed ?? null,
    summary: summarizeTool(offered?.component ?? own, server.suite.summaryMaxChars).summary,
    hidden: offered === undefined,
    ...(hiddenBy === undefined ? {} : { hiddenBy }),
  });
  const tokens = tokenCost(probe);
  const whenFlat = costWhenFlat(probe);
  const { tools, behind } = probe;
  const isDear =
    server.exposure === 'suite' && behind === undefined && tools.length > 0 && whenFlat < tokens.listed;
  return {
    ...head,
    ok: true,
    ...answerData(probe, report),
    tokens,
    ...(isDear ? { tokensWhenFlat: whenFlat } : {}),
  };
}

function unusableReport(server: UnusableServer, listed: readonly ListedTool[]): ServerReport {
  const { name, exposure, origin, reason, nextStep } = server;
  const suite = exposure === 'suite' ? listed[0]?.name : undefined;
  return {
    ...{ name, exposure, source: origin },
    ...(suite === undefined ? {} : { suite }),
    ...failed(listed),
    error: { code: 'SERVER_UNUSABLE', message: `It is not available: ${reason}.`, hint: nextStep },
  };
}

/** What a host still sees of a server that does not work: a suite that says so. */
function failed(listed: readonly ListedTool[]): Pick<ServerReport, 'ok' | 'tokens'> {
  if (listed.length === 0) return { ok: false };
  return { ok: false, tokens: { flat: 0, listed: listedCost(listed), introspect: 0 } };
}

function compoundReport(
  compound: CompoundDefinition,
  probed: readonly ProbedServer[],
  tools: readonly ListedTool[],
): CompoundReport {
  const { name } = compound;
  return {
    name,
    parts: partsText(compound),
    missing: missingParts(compound, probed),
    tokens: { flat: 0, listed: listedCost(tools.filter((tool) => tool.name === name)), introspect: 0 },
  };
}

function managementReport(
  { settings }: LoadedConfig,
  tools: readonly ListedTool[],
): ManagementReport | undefined {
  if (!settings.management.enabled) return undefined;
  const own = tools.filter((tool) => (MANAGEMENT_TOOLS as readonly string[]).includes(tool.name));
  return {
    tools: own.map((tool) => tool.name),
    tokens: { flat: 0, listed: listedCost(own), introspect: 0 },
  };
}

/** What finds and runs the tools of servers that list none themselves. */
function searchReport(tools: App['gateway']['tools']): SearchReport | undefined {
  const own = tools.filter(({ name, source }) => source === undefined && SEARCH_TOOLS.has(name));
  if (own.length === 0) return undefined;
  return {
    tools: own.map(({ name }) => name),
    tokens: { flat: 0, listed: listedCost(own), introspect: 0 },
  };
}

const SEARCH_TOOLS: ReadonlySet<string> = new Set(['find_tool', 'call_tool', 'run_code']);

function sum(costs: readonly TokenCost[]): TokenCost {
  const add = (key: keyof TokenCost): number => costs.reduce((total, cost) => total + cost[key], 0);
  return { flat: add('flat'), listed: add('listed'), introspect: add('introspect') };
}

function serverText(server: ServerReport, presentation: string, cwd: string, style: Style): string {
  const head = `${style.bold(printableLine(server.name))} → ${style.bold(presentation)}`;
  if (server.error !== undefined) {
    const { message, hint } = server.error;
    const next = hint === undefined ? '' : `  ${plain(hint)}\n`;
    return `${head}\n  ${style.bad('failed')}: ${plain(message)}\n${next}`;
  }
  const { behind = [] } = server;
  const tools = [...(server.tools ?? []), ...behind];
  const hidden = tools.filter((tool) => tool.hidden).length;
  const what = server.exposure === 'suite' ? 'subtool' : 'tool';
  const own = counted(tools.length - behind.length, what);
  const facts = `${own}${behind.length === 0 ? '' : `, ${behind.length} for its model`}${hidden === 0 ? '' : `, ${hidden} hidden`}, ${server.ms} ms, from ${shortPath(server.source.file, cwd)}`;
  const shown = (tool: ToolReport): string => printableLine(tool.exposed ?? tool.name);
  const widest = Math.min(32, Math.max(0, ...tools.map((tool) => width(shown(tool)))));
  const lines = tools.map((tool) => {
    const name = pad(shown(tool), widest);
    if (tool.hiddenBy !== undefined) return style.dim(`- ${name}  hidden by ${tool.hiddenBy}`);
    if (behind.includes(tool)) return style.dim(`· ${name}  ${plainLine(tool.summary)}`.trimEnd());
    if (tool.exposed === null) return style.dim(`- ${name}  not exposed to hosts`);
    const other =
      tool.exposed === tool.name ||
      tool.exposed.endsWith(`__${tool.name}`) ||
      tool.exposed.endsWith(`.${tool.name}`)
        ? ''
        : ` (${printableLine(tool.name)})`;
    return `  ${style.good(name)}  ${plainLine(tool.summary)}${style.dim(other)}`.trimEnd();
  });
  for (const setting of server.unmatched ?? []) lines.push(style.caution(`! ${describeWarning(setting)}`));
  const { tokens, tokensWhenFlat } = server;
  if (tokens !== undefined && tokensWhenFlat !== undefined)
    lines.push(
      style.caution(
        `! expose it flat ("exposure": "flat"): ${tokensText(tokensWhenFlat)} tokens instead of ${tokensText(tokens.listed)} as a suite`,
      ),
    );
  if (server.incomplete !== undefined) lines.push(style.caution(`! ${plainLine(server.incomplete)}`));
  return `${head}  ${style.dim(facts)}\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

function compoundsText(compounds: readonly CompoundReport[], style: Style): string {
  const lines = compounds.flatMap(({ name, parts, missing }) => [
    `  ${style.good(name)}  ${printableLine(parts)}\n`,
    ...missing.map((sentence) => `    ${style.caution(`! ${printableLine(sentence)}`)}\n`),
  ]);
  return `${style.bold('compound tools')}\n${lines.join('')}`;
}

interface Costs {
  readonly servers: readonly ServerReport[];
  readonly compounds: readonly CompoundReport[];
  readonly management: ManagementReport | undefined;
  readonly search: SearchReport | undefined;
  /** In tokens. */
  readonly instructions: number | undefined;
  readonly total: TokenCost;
}

function costTable(
  { servers, compounds, management, search, instructions, total }: Costs,
  style: Style,
): string {
  const row = (name: string, tools: number | undefined, cost: TokenCost): string[] => {
    const saved = percent(saving(cost));
    const saves = saved === undefined ? '' : `${saved}%`;
    const flat = tools === undefined ? '' : tokensText(cost.flat);
    return [
      name,
      String(tools ?? ''),
      flat,
      tokensText(cost.listed),
      saves,
      cost.introspect === 0 ? '' : tokensText(cost.introspect),
    ];
  };
  const rows = [
    ...servers.flatMap(({ name, tools, behind = tools, tokens }) =>
      tokens === undefined ? [] : [row(printableLine(name), behind?.length, tokens)],
    ),
    ...compounds.map(({ name, tokens }) => row(name, undefined, tokens)),
    ...(management === undefined ? [] : [row('management', undefined, management.tokens)]),
    ...(search === undefined ? [] : [row(search.tools.join(', '), undefined, search.tokens)]),
    ...(instructions === undefined
      ? []
      : [row('instructions', undefined, { flat: 0, listed: instructions, introspect: 0 })]),
  ];
  if (rows.length > 1) {
    const tools = servers.reduce((all, server) => all + (server.behind ?? server.tools ?? []).length, 0);
    rows.push(row('total', tools, total));
  }
  return table(
    ['TOKENS', right('TOOLS'), right('FLAT'), right('LISTED'), right('SAVED'), right('OPENED')],
    rows,
    style.bold,
    style.columns,
  );
}

/** In percent, with one decimal. Rounded down, so that it is never 100 while any cost remains. */
function percent(fraction: number | undefined): number | undefined {
  return fraction === undefined ? undefined : Math.floor(fraction * 1000) / 10;
}
