import type { IncomingMessage } from 'node:http';

/** Detects that a gateway is its own client, directly or through others: requests list the gateways they came through. */
export interface LoopGuardOptions {
  /** The header with the list, in lower case; the last one sent the request. */
  readonly header: string;
  /** The name of this gateway in the list: random letters, digits and dashes. */
  readonly self: string;
}

/** More than this many gateways count as a loop. */
const MAX_GATEWAYS = 8;

/** The gateways that a request has come through; `loop` if this one is among them, or if they are too many. */
export function readGatewayPath(
  { headers }: IncomingMessage,
  options: LoopGuardOptions | undefined,
): readonly string[] | 'loop' {
  const value = options && headers[options.header];
  if (options === undefined || typeof value !== 'string') return [];
  // Invalid names are not forwarded.
  const names = value
    .split(',')
    .map((name) => name.trim())
    .filter((name) => /^[\w-]{1,64}$/.test(name));
  return names.length > MAX_GATEWAYS || names.includes(options.self) ? 'loop' : names;
}
