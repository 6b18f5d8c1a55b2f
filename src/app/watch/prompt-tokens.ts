import { estimateTokens } from '../../shared/tokens.ts';

const known = new WeakMap<object, number>();

/**
 * Roughly how many tokens a tool costs: hosts put its name, description and schema into the prompt. Counted once per
 * `tool`; `definition` returns its JSON text.
 */
export function promptTokens(tool: object, definition: () => string): number {
  let tokens = known.get(tool);
  if (tokens === undefined) {
    const { name, description, inputSchema } = JSON.parse(definition()) as Record<string, unknown>;
    tokens = estimateTokens(`${JSON.stringify({ name, description, inputSchema })}\n`);
    known.set(tool, tokens);
  }
  return tokens;
}
