#!/usr/bin/env node
import { loadFromCache } from '../cli/kit/compile-cache.ts';

void loadFromCache(() => import('../cli/switchyard/main.ts'))
  .then(({ yardMain }) => yardMain(process.argv.slice(2)))
  .then((code) => process.exit(code));
