import type { RemoteDefinition } from './definition.ts';

/** The secrets in a remote server's definition, to be masked in everything that is printed about it. */
export function remoteSecrets({
  headers,
  oauth,
  url,
  written,
}: Pick<RemoteDefinition, 'headers' | 'oauth' | 'url' | 'written'>): string[] {
  // The value after "Bearer" may also appear alone.
  const values = Object.values(headers).flatMap((value) => [value, value.slice(value.lastIndexOf(' ') + 1)]);
  const address = url === written.url ? [] : [url, ...partsOf(url, written.url)];
  const { clientSecret, privateKey, assertion, identityProvider } = oauth === false ? {} : oauth;
  const secrets = [clientSecret, privateKey, assertion, identityProvider?.clientSecret].filter(
    (secret) => secret !== undefined,
  );
  return [...values, ...address, ...secrets];
}

/** The parts of an address that its shown form does not contain: values of its query, segments of its path. */
function partsOf(url: string, shown: string): string[] {
  const { searchParams, pathname } = new URL(url);
  return [...searchParams.values(), ...pathname.split('/')].filter(
    (part) => part !== '' && !shown.includes(part),
  );
}
