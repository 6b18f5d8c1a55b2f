import { printableLine } from './printable.ts';

/** Shorter values occur in any text by chance and are not worth masking. */
const LEAST = 6;

/**
 * Masks secrets in text from others: a server may have written anything before it exited, its own environment
 * included.
 */
export function secretMask(values: Iterable<string>): (text: string) => string {
  const secrets = [...values]
    // What a server wrote comes line by line and made printable; others quote.
    .flatMap((value) => [value, ...value.split(/\r?\n/)])
    .flatMap((value) => [value, printableLine(value), JSON.stringify(value).slice(1, -1)])
    .filter((value) => value.length >= LEAST)
    .sort((a, b) => b.length - a.length);
  const different = [...new Set(secrets)];
  if (different.length === 0) return (text) => text;
  return (text) => different.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
}

/** Masks everything that looks like a token. */
export function maskTokens(text: string): string {
  return text.replace(BEARER, 'Bearer ***');
}

const BEARER = /\bBearer\s+[\w.~+/=-]{8,}/gi;

/** Names of variables with secret values. */
const TELLING = /token|secret|passw|api_?key|access_?key|private_?key|credential|auth/i;

/** Whether a variable of the environment holds a secret, going by its name. */
export function isSecretName(name: string): boolean {
  return TELLING.test(name);
}
