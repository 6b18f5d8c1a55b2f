export type { BoundedFetch } from './issuer.ts';
export { OAuthResource, type OAuthResourceOptions } from './oauth-resource.ts';
