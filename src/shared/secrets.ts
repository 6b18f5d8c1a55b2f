import { printableLine } from './printable.ts';

/** Shorter values occur in any text by chance and are not worth masking. */
const LEAST = 6;

/**
 * Masks secrets in untrusted text: a server may have written anything before it exited, including its own environment.
 */
export function secretMask(values: Iterable<string>): (text: string) => string {
  const secrets = [...values]
    // A server's output arrives line by line.
    .flatMap((value) => [value, ...value.split(/\r?\n/)])
    .filter((value) => value.length >= LEAST)
    .flatMap(formsOf)
    .filter((value) => value.length >= LEAST)
    .sort((a, b) => b.length - a.length);
  const different = [...new Set(secrets)];
  if (different.length === 0) return (text) => text;
  return (text) => different.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
}

/** A text as it is, made printable, quoted (also several times), and encoded for addresses, forms and headers. */
function formsOf(text: string): string[] {
  const forms = [text, printableLine(text)];
  for (let depth = 0, escaped = text; depth < MOST_QUOTED; depth++) {
    escaped = JSON.stringify(escaped).slice(1, -1);
    forms.push(escaped);
  }
  if (!PLAIN.test(text)) {
    // Half a surrogate pair cannot be encoded.
    const value = Buffer.from(text).toString();
    const url = new URL('http://host');
    url.password = value;
    url.pathname = `/${value}`;
    url.search = `?${value}`;
    const query = new URLSearchParams({ '': value }).toString().slice(1);
    const inUrl = [url.password, url.pathname.slice(1), url.search.slice(1)];
    forms.push(encodeURIComponent(value), encodeURI(value), query);
    // A path loses its dots, and what is left of "./config" is an ordinary word.
    forms.push(...inUrl.filter((form) => form.length >= value.length));
  }
  return [...forms, ...inBase64(text)];
}

/** The base64 forms of a text, whatever precedes it: its first character depends on the preceding byte. */
function inBase64(text: string): string[] {
  const bytes = Buffer.from(text);
  return [0, 1, 2].flatMap((before) => {
    const all = Buffer.concat([Buffer.alloc(before), bytes]);
    const [from, to] = [before === 0 ? 0 : before + 1, Math.floor((all.length * 8) / 6)];
    return (['base64', 'base64url'] as const).map((encoding) => all.toString(encoding).slice(from, to));
  });
}

/** JSON in JSON: a message quotes a result, which quotes what a server got from another one. */
const MOST_QUOTED = 4;
/** Looks the same in addresses. */
const PLAIN = /^[\w.-]*$/;

/** Masks everything that looks like a token. */
export function maskTokens(text: string): string {
  return text.replace(BEARER, 'Bearer ***');
}

const BEARER = /\bBearer\s+[\w.~+/=-]{8,}/gi;

/** Names of variables with secret values. */
const TELLING = /token|secret|passw|api_?key|access_?key|private_?key|credential|auth/i;

/** Whether a variable contains a secret, judging by its name. */
export function isSecretName(name: string): boolean {
  return TELLING.test(name);
}
