import type { Exposure } from '../gateway/index.ts';

/** Exposes nothing: the server is available only to compound tools. */
export const hidden: Exposure = { needsTools: false, present: () => [] };
