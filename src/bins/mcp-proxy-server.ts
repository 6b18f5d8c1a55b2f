#!/usr/bin/env node
import { mcpProxyServer } from '../cli/switchboard/variants.ts';
import { runProgram } from '../cli/switchboard/main.ts';

void runProgram(process.argv.slice(2), mcpProxyServer).then((code) => process.exit(code));
