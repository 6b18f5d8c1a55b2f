/**
 * `npm run inspector`: the MCP Inspector, in the browser, on the built mcp-proxy-server.
 *
 * The configuration is that of MCP_PROXY_CONFIG_PATH, else config.json, else config.example.json. Arguments are passed on to the
 * Inspector. It listens on this machine only, and says where.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ROOT } from './lib/bundle.mjs';
import { developmentConfig } from './lib/development-config.mjs';

const manifest = createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json');
const { bin } = JSON.parse(readFileSync(manifest, 'utf8'));
const config = developmentConfig();
const inspector = spawn(
  process.execPath,
  [
    join(dirname(manifest), bin['mcp-inspector']),
    ...process.argv.slice(2),
    ...['-e', `MCP_PROXY_CONFIG_PATH=${config}`],
    ...[process.execPath, join(ROOT, 'dist/mcp-proxy-server.js')],
  ],
  { stdio: 'inherit' },
);
// A terminal sends Ctrl-C to the Inspector itself.
process.on('SIGINT', () => process.stdin.isTTY || inspector.kill('SIGINT'));
for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => inspector.kill(signal));
inspector.once('exit', (code) => process.exit(code ?? 1));
