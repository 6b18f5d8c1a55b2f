#!/usr/bin/env node
import { loadFromCache } from '../cli/kit/compile-cache.ts';
import { mcpmux } from '../cli/switchboard/variants.ts';

void loadFromCache(() => import('../cli/switchboard/main.ts'))
  .then(({ runProgram }) => runProgram(process.argv.slice(2), mcpmux))
  .then((code) => process.exit(code));
