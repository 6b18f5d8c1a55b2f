#!/usr/bin/env node
import { mcpProxyServer } from '../cli/faces/mcp-proxy-server.ts';
import { main } from '../cli/main.ts';

process.exit(await main(process.argv.slice(2), mcpProxyServer));
