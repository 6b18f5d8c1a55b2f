import { CODE } from './code.ts';
import { DATA } from './data.ts';
import type { KnownId } from './known.ts';
import { LOCAL } from './local.ts';
import { OPERATIONS } from './operations.ts';
import { WEB } from './web.ts';
import { WORK } from './work.ts';

/** The library's long part: what a model that uses a server is told. It is loaded when one is asked. */
export const ROLES: Readonly<Record<KnownId, string>> = {
  ...LOCAL,
  ...WEB,
  ...CODE,
  ...WORK,
  ...DATA,
  ...OPERATIONS,
};
