import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { secretMask } from '../../shared/secrets.ts';
import { VERSION } from '../../shared/version.ts';
import type { Login } from '../login.ts';
import type { RemoteTarget } from '../server.ts';

/**
 * How long an idle connection is kept, in milliseconds. Many servers close theirs after five seconds without notice; a
 * request sent at that moment would be lost and could not be repeated.
 */
const IDLE_CONNECTION_MS = 4000;

/** The address of a remote server, the headers of every request to it, and its connections. */
export class RemoteEndpoint {
  readonly server: string;
  /** The address without secrets, for messages. */
  readonly shown: string;
  /** Where messages are posted; changes within the origin after a permanent redirect. */
  url: URL;
  /** The session that the server assigned. */
  session: string | undefined;
  /** The negotiated protocol version. */
  version: string | undefined;
  readonly agent: http.Agent;
  /** Undefined if the configuration contains an Authorization header. */
  readonly login: Login | undefined;
  /** The credentials in the configuration, which are used instead of a login. */
  readonly ownAuthorization: 'header' | 'password' | undefined;
  /** How to log in, as a sentence for a person. */
  readonly loginHint: string;
  /** The last Authorization header from the login. */
  authorization: string | undefined;
  /** The last nonce that the server sent for proofs of the login. */
  nonce: string | undefined;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #secrets: readonly string[];

  /** Throws a TypeError for an invalid URL. */
  constructor(server: string, { url, shown, headers, login, loginHint }: RemoteTarget) {
    this.server = server;
    this.shown = shown.url;
    this.url = new URL(url);
    const own: Record<string, string> = { 'user-agent': `switchboard/${VERSION}` };
    for (const [name, value] of Object.entries(headers)) own[name.toLowerCase()] = value;
    own['accept-encoding'] = 'identity';
    const password = passwordIn(own.authorization);
    this.ownAuthorization =
      own.authorization === undefined ? undefined : password === undefined ? 'header' : 'password';
    this.login = this.ownAuthorization === undefined ? login : undefined;
    this.loginHint = loginHint ?? `Run: switchboard auth ${server}`;
    this.#headers = own;
    this.#secrets = [
      ...Object.values(headers),
      password ?? '',
      ...this.url.search.slice(1).split('&'),
      ...this.url.searchParams.values(),
    ];
    this.url.username = this.url.password = this.url.hash = '';
    const options = { keepAlive: true, timeout: IDLE_CONNECTION_MS };
    this.agent = this.secure ? new https.Agent(options) : new http.Agent(options);
  }

  get secure(): boolean {
    return this.url.protocol === 'https:';
  }

  /** The headers of every request, except those that depend on its kind or on the login. */
  headers(): Record<string, string> {
    const headers = { ...this.#headers };
    if (this.session !== undefined) headers['mcp-session-id'] = this.session;
    if (this.version !== undefined) headers['mcp-protocol-version'] = this.version;
    return headers;
  }

  /** Hides our secrets in text from the server. */
  mask(text: string): string {
    const secrets = [...this.#secrets, this.session ?? '', this.authorization ?? ''];
    // A scheme such as Bearer may precede the secret.
    return secretMask(secrets.flatMap((secret) => [secret, secret.replace(/^\w+ +/, '')]))(text);
  }

  /** Closes every connection, idle or not. Resolves when all are closed. */
  async close(): Promise<void> {
    const sockets = [this.agent.sockets, this.agent.freeSockets].flatMap((byName) =>
      Object.values(byName).flatMap((list: Socket[] | undefined) => list ?? []),
    );
    const closed = sockets
      .filter((socket) => !socket.closed)
      .map((socket) => new Promise((resolve) => socket.once('close', resolve)));
    this.agent.destroy();
    await Promise.all(closed);
  }
}

/** The password in a Basic header, which may come from the user part of the configured URL. */
function passwordIn(authorization: string | undefined): string | undefined {
  const [, pair] = /^basic +(.*)$/i.exec(authorization ?? '') ?? [];
  if (pair === undefined) return undefined;
  const text = Buffer.from(pair, 'base64').toString();
  return text.slice(text.indexOf(':') + 1);
}
