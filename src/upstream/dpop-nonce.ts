/**
 * The nonce in a DPoP-Nonce header, which our next proof must contain (RFC 9449); undefined if it is not a valid nonce.
 */
export function nonceIn(header: unknown): string | undefined {
  return typeof header === 'string' && NONCE.test(header) ? header : undefined;
}

const NONCE = /^[\x21\x23-\x5b\x5d-\x7e]{1,1024}$/;
