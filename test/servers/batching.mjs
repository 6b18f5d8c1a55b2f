/**
 * Speaks 2025-03-26 and writes arrays: every answer comes in a batch, behind a log message.
 *
 *   node test/servers/batching.mjs
 *
 * Tools: echo {text}.
 */
import { createInterface } from 'node:readline';

const write = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const log = {
  jsonrpc: '2.0',
  method: 'notifications/message',
  params: { level: 'info', data: 'in a batch' },
};

const answers = {
  'tools/list': () => ({ tools: [{ name: 'echo', inputSchema: { type: 'object' } }] }),
  'tools/call': ({ arguments: { text } }) => ({ content: [{ type: 'text', text }] }),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'initialize') {
    const result = {
      protocolVersion: '2025-03-26',
      capabilities: { tools: {}, logging: {} },
      serverInfo: { name: 'batching', version: '1' },
    };
    write({ jsonrpc: '2.0', id, result });
  } else write([log, { jsonrpc: '2.0', id, result: answers[method]?.(params) ?? {} }]);
});
