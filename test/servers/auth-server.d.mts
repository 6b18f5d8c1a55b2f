/** See auth-server.mjs, where each setting is explained. */
export interface AuthServerSettings {
  port: number;
  accessSeconds: number | undefined;
  refresh: boolean;
  rotate: boolean;
  registration: boolean;
  documents: Record<string, { redirect_uris: string[] }> | undefined;
  clients: { id: string; secret?: string; redirectUris?: string[] }[];
  deny: string | undefined;
  state: string | undefined;
  iss: boolean | string;
  challenge: boolean;
  challengeScope: string | undefined;
  challengeUrl: string | undefined;
  resourceMetadata: boolean;
  issuers: string[] | undefined;
  resource: string | undefined;
  metadata: 'oauth' | 'openid' | 'none';
  metadataChanges: Record<string, unknown>;
  scopes: string[] | undefined;
  revocation: boolean;
  tokenFault: Answer | 'hang' | undefined;
  mcpFault: Answer | 'hang' | undefined;
}

export interface Answer {
  status: number;
  headers?: Record<string, string>;
  body: string;
}

export interface AuthServer {
  readonly origin: string;
  /** Of the MCP server. */
  readonly url: string;
  readonly settings: AuthServerSettings;
  readonly counts: Record<
    'registrations' | 'authorizations' | 'codes' | 'refreshes' | 'revocations' | 'calls',
    number
  >;
  readonly requests: {
    method: string;
    path: string;
    query: URLSearchParams;
    body: string;
    authorization: string | undefined;
  }[];
  readonly issued: string[];
  revokeAll(which?: 'all' | 'access'): void;
  forgetClients(): void;
  close(): Promise<void>;
}

export function startAuthServer(options?: Partial<AuthServerSettings>): Promise<AuthServer>;
