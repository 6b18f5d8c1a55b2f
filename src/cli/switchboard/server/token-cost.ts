import { describeTool, introspection } from '../../../exposure/index.ts';
import { printableInstructions } from '../../../gateway/index.ts';
import { estimateTokens } from '../../../shared/tokens.ts';
import type { ListedTool, ProbedServer } from './probe-servers.ts';

/** About how many tokens a server costs. */
export interface TokenCost {
  /** All its tools individually, and its instructions, as without Switchboard. */
  readonly flat: number;
  /** What a host gets in its list of tools instead. */
  readonly listed: number;
  /** What the model reads once in a conversation in which it opens the suite; 0 if there is none. */
  readonly introspect: number;
}

/** A server that has listed its tools. */
export type AnsweredServer = Extract<ProbedServer, { kind: 'answered' }>;

export function tokenCost(probe: AnsweredServer): TokenCost {
  const { tools, behind, listed, server, about } = probe;
  // A natural-language server does not have to be opened.
  const isOpened = server.exposure === 'suite' && listed.length > 0 && behind === undefined;
  return {
    flat:
      estimateTokens(promptText((behind ?? tools).map((tool) => tool.own.value))) +
      estimateTokens(about?.instructions ?? ''),
    listed: listedCost(listed),
    introspect: isOpened ? openedCost(probe) : 0,
  };
}

/** About how many tokens a model reads when it opens a server's suite. */
export function openedCost({ tools, incomplete, server, about }: AnsweredServer): number {
  const { mode, summaryMaxChars, instructionsMaxChars } = server.suite;
  const offered = tools.flatMap((tool) => tool.offered?.component ?? []);
  const opened = introspection({
    tools: offered.map((tool) => describeTool(tool, mode, summaryMaxChars)),
    instructions: printableInstructions(about?.instructions, instructionsMaxChars),
    note: incomplete,
    offersMore: true,
  });
  return estimateTokens(opened);
}

/** About how many tokens a server would cost if it were flat, including its instructions. */
export function costWhenFlat({ tools, server, about }: AnsweredServer): number {
  const named = tools.flatMap(({ offered }) =>
    offered === undefined ? [] : [{ ...offered.component.value, name: `${server.name}__${offered.name}` }],
  );
  const said = printableInstructions(about?.instructions, server.suite.instructionsMaxChars);
  return (
    estimateTokens(promptText(named)) + (said === undefined ? 0 : estimateTokens(`[${server.name}] ${said}`))
  );
}

/** About how many tokens the tools in a client's list cost. */
export function listedCost(listed: readonly Pick<ListedTool, 'definition'>[]): number {
  return estimateTokens(promptText(listed.map((tool) => JSON.parse(tool.definition) as Definition)));
}

/** The saved fraction; undefined if there is nothing to save. */
export function saving({ flat, listed }: Pick<TokenCost, 'flat' | 'listed'>): number | undefined {
  return flat === 0 ? undefined : 1 - listed / flat;
}

interface Definition {
  readonly name?: unknown;
  readonly description?: unknown;
  readonly inputSchema?: unknown;
}

/**
 * What hosts include in the prompt for a tool: name, description and input schema. They keep the rest to themselves.
 */
function promptText(tools: readonly Definition[]): string {
  return tools
    .map(({ name, description, inputSchema }) => JSON.stringify({ name, description, inputSchema }))
    .join('\n');
}
