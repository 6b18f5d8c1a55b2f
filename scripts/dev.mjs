/**
 * `npm run dev`: builds and runs a program on stdin and stdout, and repeats that after every change.
 *
 *   npm run dev                                     switchboard
 *   npm run dev -- mcp-proxy-server --config a.json another program, with flags for it
 *   npm run dev:sse                                 mcp-proxy-server over HTTP, on PORT or 3006
 *
 * mcp-proxy-server uses config.json, or config.example.json if there is none. `--no-build` runs what is in dist/, once.
 *
 * Only the program writes to stdout. It ends when the program ends without an error, as it does at the end of stdin.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createBundler, ROOT } from './lib/bundle.mjs';
import { developmentConfig } from './lib/development-config.mjs';

const PROGRAMS = { switchboard: 'index.js', 'mcp-proxy-server': 'mcp-proxy-server.js', mcpmux: 'mcpmux.js' };
const NO_BUILD = '--no-build';
const given = process.argv.slice(2);
const [first, ...rest] = given.filter((arg) => arg !== NO_BUILD);
const named = Object.hasOwn(PROGRAMS, first ?? '');
const program = named ? first : 'switchboard';
const args = named || first === undefined ? rest : [first, ...rest];

let running;
let ending = false;
const built = async (errors) => {
  if (errors > 0 || ending) return;
  await stop();
  if (!ending) start();
};
const bundler = given.includes(NO_BUILD)
  ? { watch: () => built(0), dispose: () => undefined }
  : await createBundler({ built });
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => void end(0));
// A terminal signals the program too, and a second signal would end it abruptly.
process.on('SIGINT', () => void end(0, process.stdin.isTTY === true));
await bundler.watch();

function start() {
  const script = join(ROOT, 'dist', PROGRAMS[program]);
  console.error(`dev: starting ${program}`);
  const overHttp = args.some((arg) => /^--(http|sse)\b/.test(arg));
  const how = overHttp ? [] : ['--stdio'];
  const env = { ...process.env };
  // --config takes precedence.
  if (program === 'mcp-proxy-server') env.MCP_PROXY_CONFIG_PATH = developmentConfig();
  const child = spawn(process.execPath, [script, ...how, ...args], { stdio: 'inherit', env });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  running = { child, exited, replaced: false };
  const mine = running;
  void exited.then((code) => {
    if (mine.replaced) return;
    running = undefined;
    if (code === 0) void end(0);
    else console.error(`dev: ${program} ended with ${code}; it starts again after the next change`);
  });
}

async function stop(told = false) {
  if (running === undefined) return;
  const { child, exited } = running;
  running.replaced = true;
  running = undefined;
  if (!told) child.kill('SIGTERM');
  await exited;
}

async function end(code, told) {
  if (ending) return;
  ending = true;
  await stop(told);
  await bundler.dispose();
  process.exit(code);
}
