#!/usr/bin/env node
import { main } from '../cli/switchyard/main.ts';

void main(process.argv.slice(2)).then((code) => process.exit(code));
