#!/usr/bin/env node
import { main } from '../cli/switchyard/main.ts';

process.exit(await main(process.argv.slice(2)));
