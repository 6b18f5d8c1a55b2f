import type { IncomingMessage } from 'node:http';

/** How a gateway finds out that it is among its own servers, by whatever detour: requests name those they came through. */
export interface LoopGuardOptions {
  /** The header that names them, in lower case; the last one sent the request. */
  readonly header: string;
  /** What this gateway is called there: letters, digits and dashes, at random, so that no other is called the same. */
  readonly self: string;
}

/** A chain of this many that knows no end is one too many. */
const MAX_GATEWAYS = 8;

/** The gateways that a request has come through; `loop` where this one is among them, or where they are too many. */
export function readGatewayPath(
  { headers }: IncomingMessage,
  options: LoopGuardOptions | undefined,
): readonly string[] | 'loop' {
  const value = options && headers[options.header];
  if (options === undefined || typeof value !== 'string') return [];
  // What is no name is not passed on.
  const names = value
    .split(',')
    .map((name) => name.trim())
    .filter((name) => /^[\w-]{1,64}$/.test(name));
  return names.length > MAX_GATEWAYS || names.includes(options.self) ? 'loop' : names;
}
