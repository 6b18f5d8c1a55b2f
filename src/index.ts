#!/usr/bin/env node
import { switchboard } from './cli/switchboard/variants.ts';
import { runProgram } from './cli/switchboard/main.ts';

void runProgram(process.argv.slice(2), switchboard).then((code) => process.exit(code));
