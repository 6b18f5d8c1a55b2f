export type { Surroundings } from './incarnation.ts';
export { laterLogin, loadAuth } from './later-login.ts';
export { createMemory, memoryKey } from './memory.ts';
export type { ProcessTarget, RemoteTarget, UpstreamServer } from './server.ts';
export { createServerSource } from './source.ts';
export { headersIn } from './tool-headers.ts';
