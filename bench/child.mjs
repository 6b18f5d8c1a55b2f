/**
 * The cheapest possible MCP server, so that it is the gateway that is measured: blocking reads, prepared responses, one
 * write per response.
 *
 * Its tool echo {bytes, text} returns that many bytes of a class of text (see texts.mjs), by default plain prose. With
 * --tools=N there are N tools in all. With --modern it supports only 2026-07-28; with --stamped it uses the handshake,
 * but its results are as long as those of 2026-07-28.
 */
import { readSync, writeSync } from 'node:fs';
import { COMPLETE, modernResult, textResult } from './lib/results.mjs';
import { TEXT_CLASSES } from './texts.mjs';

const MODERN = process.argv.includes('--modern');
const STAMPED = MODERN || process.argv.includes('--stamped');
const SLACK = 64;
const prepared = new Map();

/** A response without its beginning; the id is written into the room before it, so that nothing is copied per call. */
function prepare(text, bytes) {
  const plain = STAMPED ? modernResult : textResult;
  const result = (TEXT_CLASSES[text] ?? plain)(bytes);
  const tail = Buffer.from(`,"result":${JSON.stringify(result)}}\n`);
  const whole = Buffer.concat([Buffer.alloc(SLACK), tail]);
  prepared.set(`${text} ${bytes}`, whole);
  return whole;
}

function send(bytes, start) {
  for (let at = start; at < bytes.length;) at += writeSync(1, bytes, at);
}

function answer(line) {
  const id = /"id":("[^"]*"|-?\d+)/.exec(line)?.[1];
  const method = /"method":"([^"]*)"/.exec(line)?.[1];
  if (id === undefined) return;
  if (method === 'tools/call') {
    const text = /"text":"(\w+)"/.exec(line)?.[1];
    const bytes = Number(/"bytes":(\d+)/.exec(line)?.[1] ?? 0);
    const whole = prepared.get(`${text} ${bytes}`) ?? prepare(text, bytes);
    const head = `{"jsonrpc":"2.0","id":${id}`;
    const start = SLACK - head.length;
    whole.latin1Write(head, start);
    send(whole, start);
    return;
  }
  if (MODERN) {
    send(Buffer.from(`{"jsonrpc":"2.0","id":${id},${modernBody(method)}}\n`), 0);
    return;
  }
  const body =
    method === 'initialize' || method === 'tools/list' || method === 'ping'
      ? `"result":${JSON.stringify(RESULTS[method])}`
      : '"error":{"code":-32601,"message":"Method not found"}';
  send(Buffer.from(`{"jsonrpc":"2.0","id":${id},${body}}\n`), 0);
}

const others = Number(/--tools=(\d+)/.exec(process.argv.join(' '))?.[1] ?? 1) - 1;
const OTHER_PROPERTIES = Object.fromEntries(
  ['path', 'pattern', 'limit', 'recursive'].map((name) => [
    name,
    { type: 'string', description: `What the tool does it with: the ${name}.` },
  ]),
);
const inputSchema = {
  type: 'object',
  properties: { bytes: { type: 'integer' }, text: { type: 'string' } },
  required: ['bytes'],
};
const RESULTS = {
  initialize: {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'bench', version: '1.0.0' },
  },
  'tools/list': {
    tools: [
      { name: 'echo', description: 'Returns a text of so many bytes.', inputSchema },
      ...Array.from({ length: others }, (_, at) => ({
        name: `other_${at}`,
        title: `Other tool ${at}`,
        description:
          'Is listed with a description of the usual length, two sentences or so. Nobody ever calls it.',
        inputSchema: { type: 'object', properties: OTHER_PROPERTIES, required: ['path'] },
      })),
    ],
  },
  ping: {},
};

function modernBody(method) {
  const kept = { ...COMPLETE, ttlMs: 60_000, cacheScope: 'private' };
  if (method === 'server/discover')
    return `"result":${JSON.stringify({ ...kept, supportedVersions: ['2026-07-28'], capabilities: { tools: {} } })}`;
  if (method === 'tools/list') return `"result":${JSON.stringify({ ...kept, ...RESULTS['tools/list'] })}`;
  const refusal =
    method === 'initialize'
      ? { code: -32022, message: 'Unsupported protocol version', data: { supported: ['2026-07-28'] } }
      : { code: -32601, message: 'Method not found' };
  return `"error":${JSON.stringify(refusal)}`;
}

const chunk = Buffer.allocUnsafe(64 * 1024);
let rest = '';
for (;;) {
  const length = readSync(0, chunk);
  if (length === 0) break;
  const lines = (rest + chunk.latin1Slice(0, length)).split('\n');
  rest = lines.pop() ?? '';
  for (const line of lines) answer(line);
}
