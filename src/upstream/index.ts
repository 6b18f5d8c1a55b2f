export type { UpstreamContext } from './context.ts';
export { lazyLogin, loadAuth, type LoginKeychain } from './login.ts';
export { addServerRecord, createServerCache, serverCacheKey } from './lists/server-cache.ts';
export type { ProcessTarget, RemoteTarget, UpstreamServer } from './server.ts';
export { ServerSource, loadConnection } from './source.ts';
export { headersIn } from './modern/tool-headers.ts';
