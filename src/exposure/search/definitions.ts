import { estimateTokens } from '../../shared/tokens.ts';

/** The limit for both tools' definitions together, in tokens by our estimate, which may be slightly too low. */
const MOST_TOKENS = 138;

/** The definition that the client sees. The names of servers are cut to fit; the instructions have all of them. */
export function findToolDefinition(name: string, servers: readonly string[]): string {
  const room = MOST_TOKENS - estimateTokens(callToolDefinition('call_tool'));
  let text = definition(name, []);
  for (let count = 1; count <= servers.length; count++) {
    const next = definition(name, servers.slice(0, count), count < servers.length);
    if (estimateTokens(next) > room) break;
    text = next;
  }
  return text;
}

function definition(name: string, servers: readonly string[], isCut = false): string {
  const whose = servers.length === 0 ? '' : `: ${servers.join(', ')}${isCut ? ', …' : ''}`;
  return JSON.stringify({
    name,
    description: `Finds tools of MCP servers by what they do${whose}`,
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'keywords and synonyms' },
        server: { type: 'string' },
        more: { type: 'boolean' },
      },
      required: ['query'],
    },
  });
}

export function callToolDefinition(name: string): string {
  return JSON.stringify({
    name,
    description: 'Runs a tool from find_tool',
    inputSchema: {
      type: 'object',
      properties: { tool: { type: 'string' }, args: { type: 'object' } },
      required: ['tool'],
    },
  });
}
