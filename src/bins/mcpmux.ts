#!/usr/bin/env node
import { mcpmux } from '../cli/program-variant.ts';
import { runProgram } from '../cli/main.ts';

void runProgram(process.argv.slice(2), mcpmux).then((code) => process.exit(code));
