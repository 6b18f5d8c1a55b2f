import type { Exposure } from '../gateway/index.ts';

/** A server that is not shown: it is there for compound tools only. */
export const hidden: Exposure = { needsTools: false, present: () => [] };
