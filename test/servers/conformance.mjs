/**
 * The server that the conformance suite of the protocol is run against: both eras, over stdio and Streamable HTTP, with
 * every tool, prompt and resource the suite asks for by name.
 *
 *   node test/servers/conformance.mjs [--era legacy|modern|both] [--http [PORT]]
 *
 * --era    which dialect it speaks: legacy is the handshake of 2025-11-25, modern is 2026-07-28; default both
 * --http   serve Streamable HTTP on 127.0.0.1 instead of stdio, at any free port unless one is given; the address is
 *          printed on one line. The process ends with its stdin then too.
 */
import { serveHttp } from './conformance/http.mjs';
import { serveStdio } from './conformance/stdio.mjs';
import { ServerState } from './conformance/server-state.mjs';

const args = process.argv.slice(2);
const valueOf = (name) => {
  const at = args.findIndex((arg) => arg === name || arg.startsWith(`${name}=`));
  if (at < 0) return undefined;
  if (args[at].includes('=')) return args[at].slice(name.length + 1);
  return args[at + 1]?.startsWith('--') ? '' : (args[at + 1] ?? '');
};

const era = valueOf('--era') ?? 'both';
if (!['legacy', 'modern', 'both'].includes(era)) {
  console.error('--era takes legacy, modern or both.');
  process.exit(2);
}
const serverState = new ServerState(era);
const port = valueOf('--http');

if (port === undefined) serveStdio(serverState);
else {
  const url = await serveHttp(serverState, Number(port || 0));
  process.stdout.write(`${url}\n`);
  process.stdin.on('end', () => process.exit(0)).resume();
}
