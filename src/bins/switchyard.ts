#!/usr/bin/env node
import { yardMain } from '../cli/switchyard/main.ts';

void yardMain(process.argv.slice(2)).then((code) => process.exit(code));
