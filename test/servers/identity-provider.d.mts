/** See identity-provider.mjs. */
export interface IdentityProvider {
  readonly url: string;
  user: string;
  readonly groups: Record<string, readonly string[]>;
  close(): Promise<void>;
}

export function startIdentityProvider(options: {
  readonly resource: string;
  readonly format?: 'jwt' | 'opaque';
}): Promise<IdentityProvider>;
