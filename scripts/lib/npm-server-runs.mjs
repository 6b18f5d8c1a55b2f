/** Installs real MCP servers from npm on demand, and runs them as a host would. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, platform, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export const HELLO = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'many-servers', version: '1.0.0' },
};

/** The default directory in which servers are installed. */
export const SERVER_CACHE = join(cacheDirectory(), 'mcp-switchboard-many-servers');

/** Everything that was started, to be ended on exit. */
const started = new Set();

export function endAll() {
  started.forEach(end);
}

/** Installs a server if necessary. Returns how to start it; undefined if it cannot be installed. */
export function install({ name, package: wantedPackage }, cache, say) {
  const directory = join(cache, wantedPackage.replace(/[^\w.@-]/g, '+'));
  const at = wantedPackage.lastIndexOf('@');
  const packageName = wantedPackage.slice(0, at);
  const installed = join(directory, 'node_modules', packageName, 'package.json');
  if (!existsSync(installed)) {
    say(`Installing ${wantedPackage}`);
    // Another run may install it at the same time, and this one may be interrupted.
    const draft = `${directory}.${process.pid}.tmp`;
    mkdirSync(draft, { recursive: true });
    writeFileSync(join(draft, 'package.json'), '{"private":true}');
    const npm = platform() === 'win32' ? 'npm.cmd' : 'npm';
    const { status, stderr } = spawnSync(
      npm,
      ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-save', wantedPackage],
      { cwd: draft, encoding: 'utf8', shell: platform() === 'win32', timeout: 600_000 },
    );
    if (status !== 0) {
      rmSync(draft, { recursive: true, force: true });
      say(
        `  ${name} cannot be installed: ${stderr.split('\n').find((line) => /error/.test(line)) ?? status}`,
      );
      return undefined;
    }
    if (existsSync(installed)) {
      rmSync(draft, { recursive: true });
    } else {
      rmSync(directory, { recursive: true, force: true });
      renameSync(draft, directory);
    }
  }
  const { bin } = JSON.parse(readFileSync(installed, 'utf8'));
  const file = typeof bin === 'string' ? bin : Object.values(bin ?? {})[0];
  if (file === undefined) {
    say(`  ${name} has no command`);
    return undefined;
  }
  return { command: process.execPath, file: join(directory, 'node_modules', packageName, file) };
}

/** A program that speaks JSON-RPC line by line. */
export function connect(command, args, cwd, env) {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: 'pipe',
    detached: platform() !== 'win32',
  });
  started.add(child);
  const waiting = new Map();
  let lastId = 0;
  let stderr = '';
  const giveUp = (why) => {
    for (const { reject } of waiting.values()) reject(new Error(why));
    waiting.clear();
  };
  child.stderr.on('data', (chunk) => (stderr = (stderr + chunk).slice(-2000)));
  child.stdin.on('error', () => undefined);
  child.once('error', (error) => giveUp(error.message));
  child.once('exit', (code, signal) => giveUp(`exited with ${code ?? signal}`));
  createInterface({ input: child.stdout }).on('line', (line) => {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      return;
    }
    const asked = message.method === undefined ? waiting.get(message.id) : undefined;
    if (asked === undefined) return;
    waiting.delete(message.id);
    if (message.error) asked.reject(new Error(JSON.stringify(message.error)));
    else asked.resolve(message.result);
  });
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  return {
    child,
    ask: (method, params) =>
      new Promise((resolve, reject) => {
        waiting.set(++lastId, { resolve, reject });
        send({ id: lastId, method, params });
      }),
    tell: (method) => send({ method }),
    lastWords: () => stderr.trim().split('\n').slice(-2).join(' | ').slice(0, 200),
    /** Gives it time to clean up first. */
    close: async () => {
      const exited = new Promise((resolve) => child.once('exit', resolve));
      child.stdin.end();
      await within(15_000, exited).catch(() => undefined);
      end(child);
    },
  };
}

/** Ends a program and everything it has started. */
export function end(child) {
  started.delete(child);
  try {
    if (platform() === 'win32') spawnSync('taskkill', ['/PID', String(child.pid), '/T', '/F']);
    else process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It has already ended.
  }
}

export function within(ms, promise) {
  let timer;
  const timeout = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms / 1000} s`)), ms);
  });
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer));
}

function cacheDirectory() {
  if (process.env.XDG_CACHE_HOME) return process.env.XDG_CACHE_HOME;
  if (platform() === 'darwin') return join(homedir(), 'Library', 'Caches');
  if (platform() === 'win32') return process.env.LOCALAPPDATA ?? tmpdir();
  return join(homedir(), '.cache');
}
