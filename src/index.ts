#!/usr/bin/env node
import { switchboard } from './cli/faces/switchboard.ts';
import { main } from './cli/main.ts';

process.exit(await main(process.argv.slice(2), switchboard));
