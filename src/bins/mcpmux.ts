#!/usr/bin/env node
import { mcpmux } from '../cli/faces/mcpmux.ts';
import { main } from '../cli/main.ts';

process.exit(await main(process.argv.slice(2), mcpmux));
