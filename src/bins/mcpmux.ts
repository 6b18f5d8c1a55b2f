#!/usr/bin/env node
import { mcpmux } from '../cli/faces/mcpmux.ts';
import { main } from '../cli/main.ts';

void main(process.argv.slice(2), mcpmux).then((code) => process.exit(code));
