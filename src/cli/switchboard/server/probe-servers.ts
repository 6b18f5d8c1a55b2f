import { toolRules, toolSettingWarnings, matches, describeTool } from '../../../exposure/index.ts';
import {
  filterTools,
  type Component,
  type Listing,
  type OfferedTool,
  type ToolRules,
} from '../../../gateway/index.ts';
import type { App } from '../../../app/index.ts';
import type { ServerDefinition, Pattern, ToolSettings } from '../../../config/index.ts';
import { messageOf, SwitchboardError } from '../../../shared/errors.ts';
import type { Context } from '../command.ts';
import { secondsText } from '../../kit/text.ts';

type About = NonNullable<ReturnType<ReturnType<App['source']>['about']>>;

/** A tool as clients see it in their list. */
export type ListedTool = Pick<App['gateway']['tools'][number], 'name' | 'definition'>;

/** A server that was started and asked what it offers, or could not be. */
export type ProbedServer = ProbeBase & (ProbeSuccess | ProbeFailure);

interface ProbeBase {
  readonly server: ServerDefinition;
  /** How long that took, in milliseconds. */
  readonly ms: number;
  /** What a client's list contains of it: its suite, all its tools, or nothing. */
  readonly listed: readonly ListedTool[];
}

interface ProbeSuccess {
  readonly kind: 'answered';
  /** All its tools, in its own order. */
  readonly tools: readonly ProbedTool[];
  /** If there is a language model in front of it: the tools of the server itself, which the model uses. */
  readonly behind: readonly ProbedTool[] | undefined;
  /** Why the list is incomplete, if it is. */
  readonly incomplete: string | undefined;
  /** Settings for tools that it does not have. */
  readonly unmatched: readonly UnmatchedSetting[];
  readonly about: About | undefined;
}

interface ProbeFailure {
  readonly kind: 'failed';
  readonly error: SwitchboardError;
}

export interface ProbedTool {
  /** The server's own name for the tool. */
  readonly name: string;
  /** As the server describes it. */
  readonly own: Component;
  /** As it is offered; undefined if the configuration hides it from clients. */
  readonly offered: OfferedTool | undefined;
  /** The setting that hides it from clients. */
  readonly hiddenBy: HidingSetting | undefined;
  /** The name with which a client calls it, in its list or within the suite; undefined if it cannot. */
  readonly exposed: string | undefined;
}

export type UnmatchedSetting = ReturnType<typeof toolSettingWarnings>[number];

/** How many servers are started at one time: each may be a package manager that downloads something. */
const AT_ONCE = 8;

/** The result of one server, reported as soon as it is known. */
export interface ProbeAnswer {
  readonly server: string;
  readonly ms: number;
  /** Undefined if it failed. */
  readonly tools: number | undefined;
}

/**
 * Starts the servers and lists the tools of each, several at a time. The results are in the order of the configuration.
 * The status line shows which servers are still pending, and for how long.
 */
export async function probeServers(
  app: App,
  wanted: readonly ServerDefinition[],
  context: Pick<Context, 'status' | 'log'>,
  onAnswer: (answer: ProbeAnswer) => void = () => undefined,
): Promise<ProbedServer[]> {
  const found: RawProbe[] = [];
  const busy = new Map<string, number>();
  const waiting = wanted.entries();
  let done = 0;
  const show = (): void => {
    const names = [...busy].map(([name, since]) => `${name} ${secondsText(performance.now() - since)}`);
    context.status.show(`${done} of ${wanted.length} done, waiting for ${names.join(', ')}`);
  };
  const work = async (): Promise<void> => {
    for (const [at, server] of waiting) {
      busy.set(server.name, performance.now());
      show();
      const asked = await probe(app, server);
      found[at] = asked;
      busy.delete(server.name);
      done += 1;
      context.status.clear();
      const answer = answerOf(asked);
      report(answer, context);
      onAnswer(answer);
      if (busy.size > 0) show();
    }
  };
  const ticking = setInterval(show, 1000);
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  } finally {
    clearInterval(ticking);
  }
  // Only now are all names known.
  return found.map((asked) => toProbedServer(app, asked));
}

/** What a client's list contains of a server, as far as known now. */
export function listedTools(app: App, { name }: Pick<ServerDefinition, 'name'>): readonly ListedTool[] {
  return app.gateway.tools.filter((tool) => tool.source === name);
}

/** Which tools of a server clients get. */
export function rulesOf({ gateway }: App, { name }: ServerDefinition): ToolRules {
  const entry = gateway.catalog.entries.find(({ source }) => source.name === name);
  if (entry === undefined) throw new Error(`The gateway has no server ${JSON.stringify(name)}.`);
  return entry.rules;
}

/** The tools of a list, and how each is offered to clients. */
export function probedTools(app: App, server: ServerDefinition, listing: Listing): readonly ProbedTool[] {
  const { tools: offers } = filterTools(listing, rulesOf(app, server));
  const listed = listedTools(app, server);
  const nameOf = (offer: OfferedTool, at: number): string | undefined => {
    if (server.exposure === 'suite') return listed.length > 0 ? offer.name : undefined;
    if (server.exposure === 'search' || server.exposure === 'code') return `${server.name}.${offer.name}`;
    // The tools of a flat server are listed individually, in the same order.
    return listed.length === offers.length ? listed[at]?.name : undefined;
  };
  const names = new Map(offers.map((offer, at) => [offer.original, { offer, name: nameOf(offer, at) }]));
  return toProbedTools(listing, server, (tool) => names.get(tool));
}

/** The tools of a server behind a language model, as the model sees them. No client can call them. */
function toolsBehind(server: ServerDefinition, listing: Listing): readonly ProbedTool[] {
  const { tools: offers } = filterTools(listing, toolRules(server.tools));
  const offered = new Map(offers.map((offer) => [offer.original, { offer, name: undefined }]));
  return toProbedTools(listing, server, (tool) => offered.get(tool));
}

function toProbedTools(
  listing: Listing,
  { tools }: ServerDefinition,
  find: (tool: string) => { readonly offer: OfferedTool; readonly name: string | undefined } | undefined,
): readonly ProbedTool[] {
  return listing.components.map((own) => {
    const found = find(own.key);
    return {
      name: own.key,
      own,
      offered: found?.offer,
      hiddenBy: found === undefined ? hiddenBy(own.key, tools) : undefined,
      exposed: found?.name,
    };
  });
}

type RawProbe = { readonly server: ServerDefinition; readonly ms: number } & (
  | { readonly listing: Listing; readonly behind: Listing | undefined; readonly error?: undefined }
  | { readonly listing?: undefined; readonly error: SwitchboardError }
);

async function probe(app: App, server: ServerDefinition): Promise<RawProbe> {
  const since = performance.now();
  const ms = (): number => Math.round(performance.now() - since);
  try {
    const listing = await app.listTools(server.name);
    const behind = await app.behind(server.name)?.list('tools');
    return { server, ms: ms(), listing, behind };
  } catch (cause) {
    const error =
      cause instanceof SwitchboardError ? cause : new SwitchboardError('BUG', messageOf(cause), { cause });
    return { server, ms: ms(), error };
  }
}

function toProbedServer(app: App, asked: RawProbe): ProbedServer {
  const { server, ms } = asked;
  const common = { server, ms, listed: listedTools(app, server) };
  if (asked.error !== undefined) return { kind: 'failed', ...common, error: asked.error };
  const { listing, behind } = asked;
  // Tool settings refer to the server's own tools.
  const own = behind ?? listing;
  return {
    kind: 'answered',
    ...common,
    tools: probedTools(app, server, listing),
    behind: behind && toolsBehind(server, behind),
    incomplete: own.incomplete,
    unmatched: toolSettingWarnings(server.tools, own),
    about: (app.behind(server.name) ?? app.source(server.name)).about(),
  };
}

function answerOf({ server, ms, listing, ...asked }: RawProbe): ProbeAnswer {
  const own = 'behind' in asked ? (asked.behind ?? listing) : listing;
  return { server: server.name, ms, tools: own?.components.length };
}

function report({ server, ms, tools }: ProbeAnswer, { log }: Pick<Context, 'log'>): void {
  if (tools === undefined) log.info('failed', { server, ms });
  else log.info('listed', { server, tools, ms });
}

/** The settings that hide a tool from clients. */
export type HidingSetting = 'expose.allow' | 'exposedTools' | 'expose.deny' | 'hiddenTools';

/** Which setting hides a tool, if clients cannot see it. */
export function hiddenBy(tool: string, { allow = [], deny }: ToolSettings): HidingSetting {
  const denying = deny.find((pattern) => matches(pattern, tool));
  if (denying !== undefined) return isIn(denying, 'hiddenTools') ? 'hiddenTools' : 'expose.deny';
  return allow.some((pattern) => isIn(pattern, 'exposedTools')) ? 'exposedTools' : 'expose.allow';
}

function isIn({ origin }: Pattern, list: 'hiddenTools' | 'exposedTools'): boolean {
  return new RegExp(`(?:^|\\.|\\])${list}\\[\\d+\\]$`).test(origin.key);
}

/** A tool in two lines. */
export interface ToolSummary {
  readonly name: string;
  readonly summary: string;
  /** The input schema, condensed to one line. */
  readonly input: string;
}

/** A tool as a model reads it when it opens a suite. */
export function summarizeTool(tool: Component, summaryMaxChars: number): ToolSummary {
  return JSON.parse(describeTool(tool, 'summary', summaryMaxChars)) as ToolSummary;
}
