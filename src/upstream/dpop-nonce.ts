/**
 * What a DPoP-Nonce header says, which the next proof for its sender must contain (RFC 9449); undefined where it is no
 * nonce.
 */
export function nonceIn(header: unknown): string | undefined {
  return typeof header === 'string' && NONCE.test(header) ? header : undefined;
}

const NONCE = /^[\x21\x23-\x5b\x5d-\x7e]{1,1024}$/;
