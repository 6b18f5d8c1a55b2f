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

/** Set by what carries the messages, never by a configuration. */
const OURS = new Set([
  'accept',
  'connection',
  'content-length',
  'content-type',
  'host',
  'last-event-id',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
  'transfer-encoding',
]);

/** The place where a server answers: its address, what every request to it carries, and the connections to it. */
export class Site {
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
  /** Where the Authorization comes from that is sent without asking. */
  readonly ownAuthorization: 'header' | 'url' | undefined;
  /** What the login gave us last. */
  authorization: string | undefined;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #secrets: readonly string[];

  /** Throws a TypeError where the address is none. */
  constructor(server: string, { url, shown, headers, login }: RemoteTarget) {
    this.server = server;
    this.shown = shown.url;
    this.url = new URL(url);
    const own: Record<string, string> = { 'user-agent': `switchboard/${VERSION}` };
    for (const [name, value] of Object.entries(headers)) {
      if (!OURS.has(name.toLowerCase())) own[name.toLowerCase()] = value;
    }
    const basic = basicFrom(this.url);
    this.ownAuthorization = 'authorization' in own ? 'header' : basic === undefined ? undefined : 'url';
    if (basic !== undefined && !('authorization' in own)) own.authorization = basic;
    this.login = this.ownAuthorization === undefined ? login : undefined;
    this.#headers = own;
    this.#secrets = [
      ...Object.values(headers),
      decodeURIComponent(this.url.password),
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

function basicFrom({ username, password }: URL): string | undefined {
  if (username === '' && password === '') return undefined;
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}
