import { CODE } from './code.ts';
import { DATA } from './data.ts';
import type { KnownId } from './known.ts';
import { LOCAL } from './local.ts';
import { OPERATIONS } from './operations.ts';
import { WEB } from './web.ts';
import { WORK } from './work.ts';

/** The instructions for a model that uses a server. Long, so they are loaded on first use. */
export const ROLES: Readonly<Record<KnownId, string>> = {
  ...LOCAL,
  ...WEB,
  ...CODE,
  ...WORK,
  ...DATA,
  ...OPERATIONS,
};
