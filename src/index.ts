#!/usr/bin/env node
import { switchboard } from './cli/faces/switchboard.ts';
import { main } from './cli/main.ts';

void main(process.argv.slice(2), switchboard).then((code) => process.exit(code));
