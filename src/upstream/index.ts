export type { UpstreamContext } from './server-run.ts';
export { laterLogin, loadAuth } from './later-login.ts';
export { createServerCache, serverCacheKey } from './server-cache.ts';
export type { ProcessTarget, RemoteTarget, UpstreamServer } from './server.ts';
export { createServerSource } from './source.ts';
export { headersIn } from './tool-headers.ts';
