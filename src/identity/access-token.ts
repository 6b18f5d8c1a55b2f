import { errors, jwtVerify, type JWTVerifyGetKey } from 'jose';

/** The claims of an access token that has been checked. */
export type Claims = Readonly<Record<string, unknown>>;

/** A token is not accepted. The message is the end of a sentence and never contains the token. */
export class TokenRejected extends Error {}

export interface AccessTokenRules {
  readonly issuer: string;
  /** `aud` must contain one of them. */
  readonly audience: readonly string[];
  /** The accepted signature algorithms; asymmetric ones only. */
  readonly algorithms: readonly string[];
  /** How far clocks may differ, in seconds. */
  readonly clockTolerance: number;
}

/** The claims of a JWT that the issuer has signed for us. Throws TokenRejected or IssuerUnavailable. */
export async function verifyJwt(
  token: string,
  keys: JWTVerifyGetKey,
  { issuer, audience, algorithms, clockTolerance }: AccessTokenRules,
): Promise<Claims> {
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience: [...audience],
      algorithms: [...algorithms],
      clockTolerance,
      requiredClaims: ['exp', 'iss', 'aud'],
    });
    return payload;
  } catch (error) {
    if (error instanceof errors.JOSEError) throw new TokenRejected(reasonOf(error), { cause: error });
    throw error;
  }
}

function reasonOf(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return 'it has expired';
  if (error instanceof errors.JWTClaimValidationFailed) {
    switch (error.claim) {
      case 'aud':
        return 'it is for another audience';
      case 'iss':
        return 'it is from another issuer';
      case 'nbf':
        return 'it is not valid yet';
      default:
        return `its claim "${error.claim}" is missing or wrong`;
    }
  }
  if (error instanceof errors.JOSEAlgNotAllowed) return 'its algorithm is not allowed';
  if (error instanceof errors.JWKSNoMatchingKey) return 'the issuer has no such key';
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'its signature is wrong';
  return 'it is malformed';
}

/** The scopes of a token: `scope`, separated by spaces, or `scp`. */
export function scopesOf({ scope, scp }: Claims): ReadonlySet<string> {
  const said = scope ?? scp;
  const list: readonly unknown[] = Array.isArray(said)
    ? said
    : typeof said === 'string'
      ? said.split(' ')
      : [];
  return new Set(list.filter((each) => typeof each === 'string' && each !== '') as string[]);
}
