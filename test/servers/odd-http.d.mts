import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';

/** See odd-http.mjs, where each setting is explained. */
export interface OddHttpSettings {
  port: number;
  listening: 'none' | 'open' | 'flap';
  sessions: boolean;
  before:
    ((request: IncomingMessage, response: ServerResponse, body: string) => boolean | undefined) | undefined;
  endpoint: string | undefined;
}

export interface OddHttp {
  readonly origin: string;
  /** Of the MCP server; stays the same when it is started again. */
  readonly url: string;
  readonly settings: OddHttpSettings;
  readonly requests: { method: string; path: string; headers: IncomingHttpHeaders; body: string }[];
  readonly cancelled: (string | number)[];
  ran(tag: string): number;
  sessions(): number;
  waiting(): number;
  release(): void;
  forget(): void;
  tell(message: object): void;
  listeners(): number;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export function startOddHttp(options?: Partial<OddHttpSettings>): Promise<OddHttp>;
