import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { secretMask } from '../../shared/secrets.ts';
import { VERSION } from '../../shared/version.ts';
import type { Login } from '../login.ts';
import type { RemoteTarget } from '../server.ts';

/**
 * A connection that nobody used for so long is closed, in milliseconds. Many servers close theirs after five seconds
 * and say nothing of it; a request sent at that moment would be lost, and could not be sent again.
 */
const KEPT_FOR = 4000;

/** The place where a server answers: its address, what every request to it carries, and the connections to it. */
export class RemoteEndpoint {
  readonly server: string;
  /** The address as it may be shown. */
  readonly shown: string;
  /** Where messages go; another one of the same origin once the server has said so. */
  url: URL;
  /** The session that the server gave us. */
  session: string | undefined;
  /** The version of the protocol that was agreed on. */
  version: string | undefined;
  readonly agent: http.Agent;
  /** Asked only where the configuration has no Authorization of its own. */
  readonly login: Login | undefined;
  /** What the configuration has to get in with, in the place of a login. */
  readonly ownAuthorization: 'header' | 'password' | undefined;
  /** How a person logs in. */
  readonly loginHint: string;
  /** What the login gave us last. */
  authorization: string | undefined;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #secrets: readonly string[];

  /** Throws a TypeError where the address is none. */
  constructor(server: string, { url, shown, headers, login, loginHint }: RemoteTarget) {
    this.server = server;
    this.shown = shown.url;
    this.url = new URL(url);
    const own: Record<string, string> = { 'user-agent': `switchboard/${VERSION}` };
    for (const [name, value] of Object.entries(headers)) own[name.toLowerCase()] = value;
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
    const options = { keepAlive: true, timeout: KEPT_FOR };
    this.agent = this.secure ? new https.Agent(options) : new http.Agent(options);
  }

  get secure(): boolean {
    return this.url.protocol === 'https:';
  }

  /** The headers of every request, but for those of its kind and the login's. */
  headers(): Record<string, string> {
    const headers = { ...this.#headers, 'accept-encoding': 'identity' };
    return {
      ...headers,
      ...(this.session === undefined ? {} : { 'mcp-session-id': this.session }),
      ...(this.version === undefined ? {} : { 'mcp-protocol-version': this.version }),
    };
  }

  /** Takes our own secrets out of what the server says. */
  mask(text: string): string {
    const secrets = [...this.#secrets, this.session ?? '', this.authorization ?? ''];
    // A scheme such as Bearer may stand in front of the secret itself.
    return secretMask(secrets.flatMap((secret) => [secret, secret.replace(/^\w+ +/, '')]))(text);
  }

  /** Closes every connection, used or not. Resolves when all are closed. */
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

/** The password in a header; it may have been written in the address, which the configuration makes a header of. */
function passwordIn(authorization: string | undefined): string | undefined {
  const [, pair] = /^basic +(.*)$/i.exec(authorization ?? '') ?? [];
  if (pair === undefined) return undefined;
  const text = Buffer.from(pair, 'base64').toString();
  return text.slice(text.indexOf(':') + 1);
}
