import type { Exposure } from '../gateway/index.ts';

/** A server whose tools are not shown: it is there for its resources and prompts, or for compound tools. */
export const hidden: Exposure = { needsTools: false, present: () => [] };
