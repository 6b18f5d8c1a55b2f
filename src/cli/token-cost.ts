import { introspection } from '../app.ts';
import { estimateTokens } from '../shared/tokens.ts';
import type { SuiteTool, Surveyed, Tool } from './survey.ts';

/** About how many tokens a server's tools cost. */
export interface TokenCost {
  /** Every tool put before the model, as without Switchboard. */
  readonly flat: number;
  /** The one suite tool instead. */
  readonly suite: number;
  /** What the model reads once in a conversation in which it opens the suite. */
  readonly introspect: number;
}

export function tokenCost(surveyed: Extract<Surveyed, { kind: 'answered' }>): TokenCost {
  const { tools, suite, admits, incomplete, server } = surveyed;
  const open = tools.filter((tool) => admits(tool.name));
  const { structuredContent } = introspection(
    open,
    server.suite.mode,
    server.suite.summaryMaxChars,
    incomplete,
  );
  return {
    flat: estimateTokens(promptText(tools)),
    suite: estimateTokens(promptText([suite])),
    introspect: estimateTokens(JSON.stringify(structuredContent)),
  };
}

/** What hosts put into the prompt of a tool: name, description and input schema. They keep the rest to themselves. */
export function promptText(tools: readonly (Tool | SuiteTool)[]): string {
  return tools
    .map(({ name, description, inputSchema }) => JSON.stringify({ name, description, inputSchema }))
    .join('\n');
}

/** How much less, as a fraction; undefined where there is nothing to save from. */
export function saving({ flat, suite }: Pick<TokenCost, 'flat' | 'suite'>): number | undefined {
  return flat === 0 ? undefined : 1 - suite / flat;
}
