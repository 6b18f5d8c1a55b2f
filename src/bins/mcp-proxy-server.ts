#!/usr/bin/env node
import { mcpProxyServer } from '../cli/variants/mcp-proxy-server.ts';
import { runProgram } from '../cli/main.ts';

void runProgram(process.argv.slice(2), mcpProxyServer).then((code) => process.exit(code));
