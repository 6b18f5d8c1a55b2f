#!/usr/bin/env node
import { switchboard } from './cli/program-variant.ts';
import { runProgram } from './cli/main.ts';

void runProgram(process.argv.slice(2), switchboard).then((code) => process.exit(code));
