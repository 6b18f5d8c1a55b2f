/** See identity-provider.mjs. */
export interface IdentityProvider {
  readonly url: string;
  user: string;
  readonly groups: Record<string, readonly string[]>;
  accessSeconds: number;
  readonly tokenRequests: readonly {
    readonly form: URLSearchParams;
    readonly proof: string | undefined;
    readonly status: number;
  }[];
  close(): Promise<void>;
}

export function startIdentityProvider(options: {
  readonly resource: string;
  readonly format?: 'jwt' | 'opaque';
  readonly clients?: readonly object[];
  readonly nonces?: boolean;
  readonly refresh?: boolean;
}): Promise<IdentityProvider>;
