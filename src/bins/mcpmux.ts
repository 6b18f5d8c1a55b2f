#!/usr/bin/env node
import { mcpmux } from '../cli/switchboard/variants.ts';
import { runProgram } from '../cli/switchboard/main.ts';

void runProgram(process.argv.slice(2), mcpmux).then((code) => process.exit(code));
