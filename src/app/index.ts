/** The gateway, for the programs that run it. */
export { createApp, type App } from './app.ts';
export type { AccessTokens } from '../doors/index.ts';
export { nestingDepth } from './entry.ts';
export { hasNothingToShow } from './setup-tool.ts';
export { LogTap } from './log-tap.ts';
export type { WatchLink } from './watch/watch.ts';
export type { ServerState } from './workspace.ts';
export { everythingToAllow } from './services-to-allow.ts';
export { isNotable, type AllowedTool, type ServerReview, type ToolReview } from '../trust/index.ts';
export { loadAuth } from '../upstream/index.ts';
export { recallLists } from './shared-lists.ts';
