import { expect, test } from 'vitest';
import { switchboard } from '../variants.ts';
import { parseServers } from './parse-servers.ts';

const parse = (text: string) => parseServers(text, { env: {}, variant: switchboard });
const MEMORY = { command: 'npx', args: ['-y', '@modelcontextprotocol/server-memory'] };

test.each<[string, object[]]>([
  ['npx -y @modelcontextprotocol/server-memory', [{ name: 'memory', entry: MEMORY }]],
  ['@modelcontextprotocol/server-memory', [{ name: 'memory', entry: MEMORY }]],
  ['$ npx -y \\\n  @modelcontextprotocol/server-memory', [{ name: 'memory', entry: MEMORY }]],
  ['https://mcp.linear.app/mcp', [{ name: 'linear', entry: { url: 'https://mcp.linear.app/mcp' } }]],
  [
    "node 'my server.js' --flag",
    [{ name: 'my-server', entry: { command: 'node', args: ['my server.js', '--flag'] } }],
  ],
  [
    'claude mcp add --transport http docs https://example.com/mcp',
    [{ name: 'docs', entry: { type: 'http', url: 'https://example.com/mcp' } }],
  ],
  ['switchboard add notes -- npx -y @modelcontextprotocol/server-memory', [{ name: 'notes', entry: MEMORY }]],
  [
    JSON.stringify({ mcpServers: { a: { command: 'x' }, b: { url: 'http://localhost:1/mcp' } } }),
    [{ name: 'a' }, { name: 'b' }],
  ],
  // For VS Code, Zed and opencode; cut out of a file; a single entry; with comments.
  [
    '{"servers":{"a":{"type":"stdio","command":"x","env":{"K":"${env:K}"}}}}',
    [{ name: 'a', entry: { env: { K: '${K}' } } }],
  ],
  [
    '{"mcp":{"a":{"type":"local","command":["x","y"]}}}',
    [{ name: 'a', entry: { command: 'x', args: ['y'] } }],
  ],
  ['"a": { "command": "x" },', [{ name: 'a', entry: { command: 'x' } }]],
  [JSON.stringify(MEMORY), [{ name: 'memory', entry: MEMORY }]],
  ['{ // mine\n "a": { "command": "x" } }', [{ name: 'a', entry: { command: 'x' } }]],
])('%s', async (text, servers) => {
  expect(await parse(text)).toMatchObject(servers);
});

test.each(['', '   ', '{', '{}', '{"a":1}', '"x"', '{"mcpServers":{"a":{}}}'])(
  '%j is refused',
  async (text) => {
    await expect(parse(text)).rejects.toMatchObject({ code: 'ARGS_INVALID' });
  },
);
