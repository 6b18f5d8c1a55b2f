import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ROOT } from './bundle.mjs';

/**
 * The configuration for mcp-proxy-server during development: what MCP_PROXY_CONFIG_PATH names, else config.json in the
 * working directory, else config.example.json, so that a fresh checkout works.
 */
export function developmentConfig(env = process.env, cwd = process.cwd()) {
  if (env.MCP_PROXY_CONFIG_PATH) return resolve(cwd, env.MCP_PROXY_CONFIG_PATH);
  const own = join(cwd, 'config.json');
  return existsSync(own) ? own : join(ROOT, 'config.example.json');
}
