import type { ServerCandidate, Warn } from './candidate.ts';
import type { IdentityProviderSettings, OAuthSettings, RemoteDefinition } from './definition.ts';
import type { ReferenceFiller } from './filler.ts';
import { keyPath } from './problem.ts';
import type { CommonServerSettings } from './resolve.ts';
import type { RemoteServer } from './schema/config.ts';
import { redactUrl } from './redact-url.ts';

/** How a remote server is reached. */
export type ResolvedRemote = Pick<RemoteDefinition, 'transport' | 'url' | 'written' | 'headers' | 'oauth'>;

/** The same as described by a file in any host's keys, with references not filled in. */
export interface DescribedRemote {
  readonly transport: RemoteDefinition['transport'];
  readonly url: DescribedText;
  readonly headers: readonly (DescribedText & { readonly name: string })[];
  readonly oauth: RemoteServer['oauth'];
  /** The settings that all kinds of servers have. */
  readonly settings: CommonServerSettings;
}

interface DescribedText {
  readonly text: string;
  /** Its path in the entry, for messages. */
  readonly path: readonly string[];
}

/** Address, headers and login with references filled in; undefined if one of them could not be. */
export function fillInRemote(
  candidate: ServerCandidate,
  { transport, url, headers, oauth }: DescribedRemote,
  filler: ReferenceFiller,
  warn: Warn,
): ResolvedRemote | undefined {
  const locationOf = (path: readonly string[]) => ({
    file: candidate.file,
    path: [...candidate.path, ...path],
  });
  const fill = ({ text, path }: DescribedText): string => filler.fill(text, locationOf(path));

  const filled = new Map<string, Header>();
  for (const header of headers) {
    const id = header.name.toLowerCase();
    const { file, path } = locationOf(header.path);
    if (OURS.has(id)) {
      const message = 'is set by Switchboard itself; this one is ignored';
      warn({ file, key: keyPath(path), message, level: 'info' });
      continue;
    }
    // Leading and trailing white space is not part of a header; a line break there comes from reading a token out of a
    // file.
    const value = fill(header).trim();
    if (!SENDABLE.test(value))
      filler.fail({ file, path }, 'contains a character that is not allowed in a header');
    if (filled.has(id)) filler.fail({ file, path }, 'duplicates an earlier header');
    filled.set(id, { name: header.name, value });
  }
  const text = fill(url).trim();
  const login = oauth === undefined || oauth === false ? oauth : fillInOAuth(oauth, fill);
  if (filler.failed) return undefined;
  const address = addressOf(text);
  if (address === undefined) {
    filler.fail(locationOf(url.path), 'is not a valid URL, such as https://example.com/mcp');
    return undefined;
  }
  if (address.basic !== undefined && !filled.has('authorization'))
    filled.set('authorization', { name: 'Authorization', value: address.basic });
  return {
    transport,
    url: address.url,
    written: { url: redactUrl(url.text) },
    // fromEntries defines members, so "__proto__" is an ordinary header.
    headers: Object.fromEntries([...filled.values()].map(({ name, value }) => [name, value])),
    oauth: login ?? {},
  };
}

interface Header {
  readonly name: string;
  readonly value: string;
}

/** Headers that HTTP and the protocol set themselves. Hosts' files contain some of them, to no effect. */
const OURS = new Set([
  ...['accept', 'content-type', 'content-length', 'host', 'last-event-id'],
  ...['mcp-session-id', 'mcp-protocol-version', 'mcp-method', 'mcp-name'],
  ...[
    'connection',
    'keep-alive',
    'proxy-connection',
    'te',
    'trailer',
    'transfer-encoding',
    'upgrade',
    'expect',
  ],
]);

const SENDABLE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/** The address without user name and password, which go into a header: a request must not have them in its address. */
function addressOf(text: string): { readonly url: string; readonly basic: string | undefined } | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined;
  const { username, password } = url;
  if (username === '' && password === '') return { url: text, basic: undefined };
  url.username = '';
  url.password = '';
  const credentials = `${decoded(username)}:${decoded(password)}`;
  return { url: url.href, basic: `Basic ${Buffer.from(credentials, 'utf8').toString('base64')}` };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A plain % is not an escape.
    return text;
  }
}

function fillInOAuth(
  given: Exclude<RemoteServer['oauth'], false | undefined>,
  fill: (described: DescribedText) => string,
): OAuthSettings {
  const filled = (
    key: 'clientId' | 'clientSecret' | 'clientMetadataUrl' | 'scope' | 'privateKey' | 'assertion',
  ): string | undefined => {
    const text = given[key];
    if (text === undefined) return undefined;
    // An empty text counts as unset: `${NAME:-}` results in one if NAME is not set.
    return fill({ text, path: ['oauth', key] }).trim() || undefined;
  };
  return {
    clientId: filled('clientId'),
    clientSecret: filled('clientSecret'),
    clientMetadataUrl: filled('clientMetadataUrl'),
    scope: filled('scope'),
    callbackPort: given.callbackPort,
    dpop: given.dpop,
    ...(given.grant === undefined
      ? {}
      : {
          grant: given.grant,
          issuer: given.issuer,
          privateKey: filled('privateKey'),
          keyAlgorithm: given.keyAlgorithm,
          keyId: given.keyId,
          assertion: filled('assertion'),
          identityProvider: given.identityProvider && filledProvider(given.identityProvider, fill),
        }),
  };
}

type ProviderInput = NonNullable<Exclude<RemoteServer['oauth'], false | undefined>['identityProvider']>;

function filledProvider(
  given: ProviderInput,
  fill: (described: DescribedText) => string,
): IdentityProviderSettings {
  const filled = (key: keyof ProviderInput): string =>
    fill({ text: given[key] ?? '', path: ['oauth', 'identityProvider', key] }).trim();
  return {
    tokenEndpoint: filled('tokenEndpoint'),
    clientId: filled('clientId') || undefined,
    clientSecret: filled('clientSecret') || undefined,
  };
}
