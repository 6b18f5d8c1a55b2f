/** The page that shows all gateways of this user, and the server behind it. */
export type * from './protocol.ts';
export type { FeedMessage, FeedMethods, GatewayAction } from './feed.ts';
export { ConsoleModel } from './server/model.ts';
export { Console, type ConsoleBackend, type ConsoleOptions } from './server/handler.ts';
export { ConsoleAccess } from './server/access.ts';
export { readPageFiles } from './server/page-files.ts';
