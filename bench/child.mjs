/**
 * The cheapest MCP server there can be, so that what is measured is what stands before it: blocking reads, answers
 * prepared once, one write per answer.
 *
 * Tools: echo {bytes} answers with one text of that length; structured {bytes} with many small members instead. With
 * --tools=N there are others beside them, N in all, that nobody calls. With --modern it speaks 2026-07-28 only; with
 * --stamped it speaks the handshake, and its results carry as much as those of 2026-07-28.
 */
import { readSync, writeSync } from 'node:fs';
import { COMPLETE, modernResult, structuredResult, textResult } from './lib/results.mjs';

const MODERN = process.argv.includes('--modern');
const STAMPED = MODERN || process.argv.includes('--stamped');
const SLACK = 64;
const prepared = new Map();

/** An answer without its beginning; the id is written into the room before it, so that nothing is copied per call. */
function prepare(tool, bytes) {
  const plain = STAMPED ? modernResult : textResult;
  const result = tool === 'structured' ? structuredResult(bytes) : plain(bytes);
  const tail = Buffer.from(`,"result":${JSON.stringify(result)}}\n`);
  const whole = Buffer.concat([Buffer.alloc(SLACK), tail]);
  prepared.set(`${tool} ${bytes}`, whole);
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
    const tool = line.includes('"name":"structured"') ? 'structured' : 'echo';
    const bytes = Number(/"bytes":(\d+)/.exec(line)?.[1] ?? 0);
    const whole = prepared.get(`${tool} ${bytes}`) ?? prepare(tool, bytes);
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

const others = Number(/--tools=(\d+)/.exec(process.argv.join(' '))?.[1] ?? 2) - 2;
const OTHER_PROPERTIES = Object.fromEntries(
  ['path', 'pattern', 'limit', 'recursive'].map((name) => [
    name,
    { type: 'string', description: `What the tool does it with: the ${name}.` },
  ]),
);
const inputSchema = { type: 'object', properties: { bytes: { type: 'integer' } }, required: ['bytes'] };
const RESULTS = {
  initialize: {
    protocolVersion: '2025-06-18',
    capabilities: { tools: {} },
    serverInfo: { name: 'bench', version: '1.0.0' },
  },
  'tools/list': {
    tools: [
      { name: 'echo', description: 'Answers with a text of so many bytes.', inputSchema },
      { name: 'structured', description: 'Answers with many small members.', inputSchema },
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
