#!/usr/bin/env node
import { mcpProxyServer } from '../cli/faces/mcp-proxy-server.ts';
import { main } from '../cli/main.ts';

void main(process.argv.slice(2), mcpProxyServer).then((code) => process.exit(code));
