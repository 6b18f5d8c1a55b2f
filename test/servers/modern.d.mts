import type { IncomingHttpHeaders } from 'node:http';

export interface ModernSeen {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly message: any;
}

export interface ModernSite {
  readonly url: string;
  readonly seen: ModernSeen[];
  /** Streams that listen, by the id of their request. */
  readonly streams: ReadonlyMap<number, unknown>;
  /** Serves again at the same port after it was closed. */
  again(): Promise<void>;
  close(): Promise<void>;
}

export function listen(options?: {
  readonly initialize?: 'unsupported' | 'unknown' | 'silent' | 'accept';
  readonly discover?: 'ok' | 'unknown' | 'silent';
  /** A file that says `legacy`, `modern` or `both`, and maybe a version; read at the start. */
  readonly eras?: string;
  readonly badHeader?: boolean;
  readonly extensions?: Readonly<Record<string, object>>;
  /** Requests that get no answer at all. */
  readonly silent?: (message: any) => boolean;
}): Promise<ModernSite>;
