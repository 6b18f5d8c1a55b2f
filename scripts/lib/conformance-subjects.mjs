/** The targets of the suite: the conformance server alone, and the same server behind the gateway. */
import { spawn } from 'node:child_process';
import { appendFileSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './bundle.mjs';

const SERVER = join(ROOT, 'test/servers/conformance.mjs');
const PROGRAM = join(ROOT, 'dist/index.js');
const TOKEN = 'a-token-for-the-conformance-run';
const START_LIMIT_MS = 30_000;

/** Starts the server over HTTP, with `legacy`, `modern` or `both`. Returns { url, stop }. */
export async function startDirect(era = 'both') {
  const child = start([SERVER, '--http', '0', '--era', era]);
  const url = await child.says(/^(http:\S+)\n/);
  return { url, stop: child.stop };
}

/**
 * Starts the gateway with that server as its only one, under its own names. The suite cannot send a token, so what it
 * is given is the address of a forwarder that adds it.
 *
 * @param era    what the server speaks
 * @param wire   how the gateway reaches it: stdio or http
 * @param url    the address of another server to use instead; undefined: ours
 * @param trace  a file to append the traffic between suite and gateway to; undefined: none
 */
export async function startGateway({ era, wire, url, trace }) {
  const remote =
    wire === 'http' && url === undefined ? await startDirect(era) : { url, stop: () => undefined };
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'switchboard-conformance-')));
  folders.add(cwd);
  const forwarder = await startForwarder(trace);
  const config = {
    exposure: 'flat',
    naming: 'plain',
    management: false,
    // The suite pretends to be a page. The gateway accepts none by default, not even one of this machine.
    http: { token: TOKEN, allowedOrigins: [forwarder.origin] },
    mcpServers: {
      conformance:
        wire === 'http' ? { url: remote.url } : { command: process.execPath, args: [SERVER, '--era', era] },
    },
  };
  writeFileSync(join(cwd, 'switchboard.config.json'), JSON.stringify(config));
  const env = { ...process.env, SWITCHBOARD_STATE_DIR: join(cwd, 'state') };
  const child = start([PROGRAM, '--allow-project', '--http', '0', '--json', '--log-level', 'error'], {
    cwd,
    env,
  });
  const stop = async () => {
    await child.stop();
    await remote.stop();
    forwarder.close();
    rmSync(cwd, { recursive: true, force: true });
  };
  try {
    forwarder.target = new URL(await child.says(/"url": "(http:[^"]*\/mcp)"/));
    return { url: `${forwarder.origin}/mcp`, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Forwards requests, adding only the token. */
async function startForwarder(trace) {
  const note = (line) => trace !== undefined && appendFileSync(trace, `${line}\n`);
  let count = 0;
  const server = createServer((request, response) => {
    const number = ++count;
    const { hostname, port } = forwarder.target;
    note(`${number} > ${request.method} ${request.url} ${JSON.stringify(request.headers)}`);
    const onward = httpRequest({
      hostname,
      port,
      method: request.method,
      path: request.url,
      headers: [...request.rawHeaders, 'Authorization', `Bearer ${TOKEN}`],
    });
    request.on('data', (chunk) => note(`${number} > ${chunk}`)).pipe(onward);
    onward.on('response', (answer) => {
      note(`${number} < ${answer.statusCode} ${JSON.stringify(answer.headers)}`);
      response.writeHead(answer.statusCode, answer.rawHeaders);
      response.flushHeaders();
      answer.on('data', (chunk) => note(`${number} < ${chunk}`)).pipe(response);
      answer.on('error', () => response.destroy());
    });
    onward.on('error', () => response.destroy());
    // Closing the stream is how a client cancels.
    response.on('close', () => onward.destroy());
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const forwarder = {
    origin: `http://127.0.0.1:${server.address().port}`,
    target: undefined,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  return forwarder;
}

const running = new Set();
const folders = new Set();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function start(args, options = {}) {
  const child = spawn(process.execPath, args, { ...options, stdio: ['pipe', 'pipe', 'inherit'] });
  running.add(child);
  const ended = new Promise((resolve) => child.once('exit', resolve)).finally(() => running.delete(child));
  return {
    /** The first group of a pattern in what it prints. */
    says: (pattern) =>
      new Promise((resolve, reject) => {
        let text = '';
        const limit = setTimeout(
          () => reject(new Error(`${args[0]} did not start in time.`)),
          START_LIMIT_MS,
        );
        child.stdout.on('data', (chunk) => {
          text += chunk;
          const found = pattern.exec(text)?.[1];
          if (found === undefined) return;
          clearTimeout(limit);
          resolve(found);
        });
        void ended.then(() => {
          clearTimeout(limit);
          reject(new Error(`${args[0]} has ended. It wrote: ${text}`));
        });
      }),
    stop: async () => {
      child.kill('SIGTERM');
      const limit = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await ended;
      clearTimeout(limit);
    },
  };
}
