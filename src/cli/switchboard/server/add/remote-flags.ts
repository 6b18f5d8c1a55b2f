import { redactUrl, type RemoteEntry } from '../../../../config/index.ts';
import { usage, type ParsedArguments, type Flag } from '../../../kit/arguments.ts';

/** Flags of `add` for a remote server. */
export const REMOTE_FLAGS: readonly Flag[] = [
  { name: 'url', value: 'URL', summary: 'the URL of a remote server, instead of a command' },
  {
    name: 'transport',
    short: 't',
    value: 'http|sse|auto',
    summary: 'transport (default auto: tries both)',
  },
  {
    name: 'header',
    short: 'H',
    value: "'NAME: VALUE'",
    many: true,
    summary: 'an HTTP header for every request',
  },
];

/** The entry that the flags describe; undefined if they describe none because the server is a program. */
export function remoteEntry({ flags, lists, words }: ParsedArguments): RemoteEntry | undefined {
  const url = flags.get('url');
  if (url === undefined) {
    const lonely = ['transport', 'header'].find((flag) => flags.has(flag));
    if (lonely !== undefined) throw usage(`--${lonely} needs a remote server (--url).`, EXAMPLE);
    return undefined;
  }
  if (words.length > 1) throw usage('A server has a command or --url, not both.', 'Remove one of them.');
  const needless = ['env', 'cwd'].find((flag) => flags.has(flag));
  if (needless !== undefined) throw usage(`--${needless} does not apply to a remote server (--url).`);
  const headers = (lists.get('header') ?? []).map(headerOf);
  const type = transportOf(flags.get('transport'));
  refuseBadAddress(url);
  return {
    ...(type === undefined ? {} : { type }),
    url,
    ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }),
  };
}

/** A remark about literal secrets that would be written to the file; empty if there are none. */
export function secretsRemark({ url, headers = {} }: RemoteEntry, program: string): string {
  const open = Object.entries(headers).find(
    ([name, value]) => SECRET_NAME.test(name) && !value.includes('${'),
  )?.[0];
  const what = open === undefined ? (redactUrl(url) === url ? undefined : 'A secret in the address') : open;
  if (what === undefined) return '';
  return (
    `${program}: ${what} is written to the file. To keep it out, use \${NAME} in single ` +
    "quotes ('Authorization: Bearer ${NAME}'), and set NAME where the gateway is started.\n"
  );
}

/** An address with a reference is checked when the reference has been filled in. */
function refuseBadAddress(url: string): void {
  if (url.includes('${') || (/^https?:\/\//i.test(url) && URL.canParse(url))) return;
  const shown = redactUrl(url);
  const completed = `http://${url}`;
  // Text with another scheme, or that is not an address at all, does not become one with a prefix.
  const model = !/^[a-z][a-z\d+.-]*:(?!\d)/i.test(url) && URL.canParse(completed);
  throw usage(
    `--url ${JSON.stringify(shown)} is not a valid http:// or https:// URL.`,
    model ? `Use --url ${redactUrl(completed)}, or https:// if it has TLS.` : EXAMPLE,
  );
}

/** Names of headers and variables whose values are probably secrets. */
export const SECRET_NAME = /auth|token|secret|key|cookie|passw|credential/i;
const EXAMPLE = 'For example: --url https://example.com/mcp';

function headerOf(text: string): readonly [name: string, value: string] {
  const colon = text.indexOf(':');
  // The input is not shown: it may be only the value, which may be a secret.
  if (colon < 1)
    throw usage(
      '--header needs a name and a value.',
      "For example: --header 'Authorization: Bearer ${TOKEN}'",
    );
  return [text.slice(0, colon).trim(), text.slice(colon + 1).trim()];
}

function transportOf(given: string | undefined): RemoteEntry['type'] {
  if (given === undefined || given === 'http' || given === 'sse' || given === 'auto') return given;
  if (given === 'streamable-http') return 'http';
  throw usage(`Unknown transport ${JSON.stringify(given)}.`, 'Use http, sse or auto.');
}
