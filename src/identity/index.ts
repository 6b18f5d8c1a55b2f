export type { BoundedFetch } from './issuer.ts';
export { ProtectedResource, type ProtectedResourceOptions } from './protected-resource.ts';
