import type { IncomingHttpHeaders } from 'node:http';

export interface DpopServerSettings {
  issuer: string | undefined;
  nonces: boolean;
  nonce: (() => string) | undefined;
  refuse: string | undefined;
  scheme: 'DPoP' | 'Bearer' | 'Bearer realm="x", DPoP';
  about: object;
  moved: string | undefined;
}

export interface DpopRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Who it comes from; undefined where it was refused. */
  readonly from?: { readonly user: string; readonly key: string | undefined };
  /** Why it was refused. */
  readonly problem?: string;
}

/** See dpop-server.mjs. */
export interface DpopServer {
  readonly origin: string;
  readonly url: string;
  readonly resource: string;
  readonly settings: DpopServerSettings;
  readonly requests: DpopRequest[];
  close(): Promise<void>;
}

export function startDpopServer(options?: Partial<DpopServerSettings>): Promise<DpopServer>;
