#!/usr/bin/env node
import { mcpProxyServer } from '../cli/program-variant.ts';
import { runProgram } from '../cli/main.ts';

void runProgram(process.argv.slice(2), mcpProxyServer).then((code) => process.exit(code));
