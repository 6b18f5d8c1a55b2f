import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const CHILD = fileURLToPath(new URL('../child.mjs', import.meta.url));
export const RELAY_HTTP = fileURLToPath(new URL('../relay-http.mjs', import.meta.url));
export const RELAY = fileURLToPath(new URL('../relay.mjs', import.meta.url));

const made = [];

/** Gateways must neither read nor write the user's own state. */
export const STATE = mkdtempSync(join(tmpdir(), 'switchboard-bench-state-'));
made.push(STATE);
process.on('exit', () => {
  for (const directory of made) rmSync(directory, { recursive: true, force: true });
});

/**
 * A temporary directory with that many servers, in its configuration or as files to be discovered. `hooks`: further
 * exports of the configuration, as JavaScript.
 */
export function project(servers, as = 'config', { settings = {}, args = [], hooks } = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'switchboard-bench-'));
  made.push(directory);
  const server = { command: process.execPath, args: [CHILD, ...args] };
  const names = Array.from({ length: servers }, (_, index) => (index === 0 ? 'bench' : `bench${index}`));
  if (as === 'config') {
    const mcpServers = Object.fromEntries(names.map((name) => [name, server]));
    const config = JSON.stringify({ ...settings, mcpServers }, undefined, 2);
    if (hooks === undefined) writeFileSync(join(directory, 'switchboard.config.json'), config);
    else writeFileSync(join(directory, 'switchboard.config.mjs'), `export default ${config};\n${hooks}`);
  } else {
    for (const name of names) {
      mkdirSync(join(directory, 'mcps', name), { recursive: true });
      const command = { cmd: server.command, args: server.args };
      const file = { name, description: 'A server to measure with.', command };
      writeFileSync(join(directory, 'mcps', name, '.mcp.json'), JSON.stringify(file, undefined, 2));
    }
  }
  return directory;
}
