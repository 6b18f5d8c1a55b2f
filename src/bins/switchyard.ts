#!/usr/bin/env node
import { cacheCompiledCode } from '../cli/kit/compile-cache.ts';

cacheCompiledCode();
void import('../cli/switchyard/main.ts')
  .then(({ yardMain }) => yardMain(process.argv.slice(2)))
  .then((code) => process.exit(code));
