/**
 * An OAuth authorization server and an MCP server behind it, in one: everything a login needs, on 127.0.0.1.
 *
 *   node test/servers/auth-server.mjs [--port=0] [--deny] [--access-seconds=3600] [--no-registration]
 *
 * As a program it prints the address of its MCP server, and ends when its stdin does. In a test:
 * `const server = await startAuthServer({ … })`, with the options below; `server.settings` may be changed while it runs.
 *
 * Whoever asks /authorize agrees at once (or refuses: deny). Codes are for one use and need PKCE; refresh tokens are for
 * one use too, and using one twice ends the login it belongs to. /mcp takes a bearer token and has one tool, whoami.
 */
import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { pathToFileURL, URLSearchParams } from 'node:url';

const DEFAULTS = {
  port: 0,
  /** How long an access token is good, in seconds; undefined: it is not said, and for ever. */
  accessSeconds: 3600,
  /** Whether refresh tokens are given. */
  refresh: true,
  /** Whether a refresh gives a new refresh token and ends the old one. */
  rotate: true,
  /** Whether clients can register themselves. */
  registration: true,
  /** Descriptions of clients by their address, for clients that are named so; undefined: there is no such thing. */
  documents: undefined,
  /** Clients known from the start: { id, secret?, redirectUris? }. */
  clients: [],
  /** What /authorize answers in the place of a code, for example access_denied. */
  deny: undefined,
  /** What /authorize says as state in the place of what it was given. */
  state: undefined,
  /** What /authorize says as iss: true for the issuer, false for nothing, or a text. */
  iss: true,
  /** Whether the 401 names the description of the resource; false: not. */
  challenge: true,
  /** The scope in the 401. */
  challengeScope: undefined,
  /** Where the 401 says that the description is; undefined: where it is. */
  challengeUrl: undefined,
  /** Whether there is a description of the resource, and at which path the MCP server is described. */
  resourceMetadata: true,
  /** The issuers that the description names; undefined: this server. */
  issuers: undefined,
  /** The resource that the description names; undefined: /mcp. */
  resource: undefined,
  /** How the issuer describes itself: 'oauth', 'openid' or 'none'. */
  metadata: 'oauth',
  /** Changes to the description of the issuer. */
  metadataChanges: {},
  scopes: ['read', 'write'],
  /** Whether tokens can be taken back. */
  revocation: true,
  /** What /token answers in the place of its work: { status, body, headers } or 'hang'. */
  tokenFault: undefined,
  /** The same for /mcp before it looks at tokens. */
  mcpFault: undefined,
};

export async function startAuthServer(options = {}) {
  const settings = { ...DEFAULTS, ...options };
  const counts = { registrations: 0, authorizations: 0, codes: 0, refreshes: 0, revocations: 0, calls: 0 };
  const clients = new Map(settings.clients.map((client) => [client.id, client]));
  const codes = new Map();
  const accessTokens = new Map();
  const refreshTokens = new Map();
  const issued = [];
  const requests = [];
  let origin = '';

  const secret = (kind) => {
    const value = `${kind}-${randomBytes(24).toString('base64url')}`;
    issued.push(value);
    return value;
  };

  const issuerMetadata = () => ({
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    ...(settings.registration ? { registration_endpoint: `${origin}/register` } : {}),
    ...(settings.revocation ? { revocation_endpoint: `${origin}/revoke` } : {}),
    ...(settings.documents === undefined ? {} : { client_id_metadata_document_supported: true }),
    ...(settings.metadata === 'openid'
      ? {
          jwks_uri: `${origin}/jwks`,
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
        }
      : {}),
    authorization_response_iss_parameter_supported: settings.iss === true,
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    scopes_supported: settings.scopes,
    ...settings.metadataChanges,
  });

  const giveTokens = ({ client, scope, resource, login }) => {
    const access = secret('access');
    const seconds = settings.accessSeconds;
    accessTokens.set(access, {
      client,
      login,
      until: seconds === undefined ? Infinity : Date.now() + seconds * 1000,
    });
    const refresh = settings.refresh ? secret('refresh') : undefined;
    if (refresh !== undefined) refreshTokens.set(refresh, { client, scope, resource, login, used: false });
    return {
      access_token: access,
      token_type: 'Bearer',
      ...(seconds === undefined ? {} : { expires_in: seconds }),
      ...(refresh === undefined ? {} : { refresh_token: refresh }),
      ...(scope === undefined ? {} : { scope }),
    };
  };

  const endLogin = (login) => {
    for (const tokens of [accessTokens, refreshTokens])
      for (const [token, about] of tokens) if (about.login === login) tokens.delete(token);
  };

  const clientOf = (id) => {
    const described = settings.documents?.[id];
    return clients.get(id) ?? (described && { id, redirectUris: described.redirect_uris });
  };

  /** The client that a form or its header proves; undefined where it does not. */
  const authenticated = (form, header) => {
    const [, basic] = /^Basic (.*)$/.exec(header ?? '') ?? [];
    const [id, given] = basic
      ? Buffer.from(basic, 'base64').toString().split(':').map(decodeURIComponent)
      : [form.get('client_id'), form.get('client_secret') ?? undefined];
    const client = clientOf(id);
    return client !== undefined && client.secret === given ? client : undefined;
  };

  const authorize = (asked) => {
    counts.authorizations += 1;
    const client = clientOf(asked.get('client_id'));
    const redirect = asked.get('redirect_uri') ?? '';
    // Without a known client nobody is sent anywhere.
    if (client === undefined) return text(400, 'unknown client');
    if (
      client.redirectUris !== undefined &&
      !client.redirectUris.some((known) => isSameRedirect(known, redirect))
    )
      return text(400, 'unknown redirect_uri');
    const back = new URL(redirect);
    back.searchParams.set('state', settings.state ?? asked.get('state') ?? '');
    if (settings.iss !== false) back.searchParams.set('iss', settings.iss === true ? origin : settings.iss);
    const usable =
      asked.get('response_type') === 'code' &&
      asked.get('code_challenge_method') === 'S256' &&
      asked.get('code_challenge');
    const refusal = settings.deny ?? (usable ? undefined : 'invalid_request');
    if (refusal !== undefined) {
      back.searchParams.set('error', refusal);
      back.searchParams.set('error_description', 'The person <b>said</b> no');
    } else {
      const code = secret('code');
      codes.set(code, {
        client: client.id,
        redirect,
        challenge: asked.get('code_challenge'),
        scope: asked.get('scope') ?? undefined,
        resource: asked.get('resource') ?? undefined,
        login: Symbol(),
      });
      back.searchParams.set('code', code);
    }
    return { status: 302, headers: { location: back.href }, body: '' };
  };

  const token = (form, header) => {
    if (settings.tokenFault !== undefined) return settings.tokenFault;
    const client = authenticated(form, header);
    if (client === undefined) return json(401, { error: 'invalid_client' });
    if (form.get('grant_type') === 'authorization_code') {
      counts.codes += 1;
      const known = codes.get(form.get('code'));
      codes.delete(form.get('code'));
      const proof = createHash('sha256')
        .update(form.get('code_verifier') ?? '')
        .digest('base64url');
      const fits =
        known?.client === client.id &&
        known.redirect === form.get('redirect_uri') &&
        known.challenge === proof;
      return fits ? json(200, giveTokens(known)) : json(400, { error: 'invalid_grant' });
    }
    if (form.get('grant_type') !== 'refresh_token') return json(400, { error: 'unsupported_grant_type' });
    counts.refreshes += 1;
    const known = refreshTokens.get(form.get('refresh_token'));
    if (known?.client !== client.id)
      return json(400, { error: 'invalid_grant', error_description: 'unknown' });
    if (known.used) {
      // Two have the same token, so one of them has stolen it.
      endLogin(known.login);
      return json(400, { error: 'invalid_grant', error_description: 'used twice' });
    }
    known.used = settings.rotate;
    const given = giveTokens(known);
    if (!settings.rotate) {
      refreshTokens.delete(given.refresh_token);
      delete given.refresh_token;
    }
    return json(200, given);
  };

  const register = (wanted) => {
    if (!settings.registration) return text(404, 'not here');
    counts.registrations += 1;
    const client = { id: `client-${randomBytes(8).toString('hex')}`, redirectUris: wanted.redirect_uris };
    if (wanted.token_endpoint_auth_method !== 'none') client.secret = secret('client');
    clients.set(client.id, client);
    return json(201, {
      ...wanted,
      client_id: client.id,
      ...(client.secret === undefined ? {} : { client_secret: client.secret, client_secret_expires_at: 0 }),
    });
  };

  const revoke = (form, header) => {
    if (!settings.revocation) return text(404, 'not here');
    if (authenticated(form, header) === undefined) return json(401, { error: 'invalid_client' });
    counts.revocations += 1;
    const known = refreshTokens.get(form.get('token')) ?? accessTokens.get(form.get('token'));
    if (known !== undefined) endLogin(known.login);
    return text(200, '');
  };

  const mcp = (method, body, header) => {
    if (settings.mcpFault !== undefined) return settings.mcpFault;
    const [, given] = /^Bearer (.*)$/.exec(header ?? '') ?? [];
    const known = accessTokens.get(given);
    if (known === undefined || known.until <= Date.now()) {
      const parts = [
        ...(given === undefined ? [] : ['error="invalid_token"']),
        ...(settings.challenge && settings.resourceMetadata
          ? [
              `resource_metadata="${settings.challengeUrl ?? `${origin}/.well-known/oauth-protected-resource/mcp`}"`,
            ]
          : []),
        ...(settings.challengeScope === undefined ? [] : [`scope="${settings.challengeScope}"`]),
      ];
      return {
        ...text(401, 'log in first'),
        headers: { 'www-authenticate': `Bearer ${parts.join(', ')}`.trim() },
      };
    }
    if (method !== 'POST') return text(405, '');
    counts.calls += 1;
    return answerMcp(JSON.parse(body), known.client);
  };

  const route = async (request) => {
    const url = new URL(request.url, origin);
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const { authorization } = request.headers;
    requests.push({
      method: request.method,
      path: url.pathname,
      query: url.searchParams,
      body,
      authorization,
    });
    const form = new URLSearchParams(body);
    switch (url.pathname) {
      case '/.well-known/oauth-protected-resource/mcp':
        if (!settings.resourceMetadata) break;
        return json(200, {
          resource: settings.resource ?? `${origin}/mcp`,
          authorization_servers: settings.issuers ?? [origin],
          ...(settings.scopes === undefined ? {} : { scopes_supported: settings.scopes }),
        });
      case '/.well-known/oauth-authorization-server':
        if (settings.metadata === 'oauth') return json(200, issuerMetadata());
        break;
      case '/.well-known/openid-configuration':
        if (settings.metadata === 'openid') return json(200, issuerMetadata());
        break;
      case '/authorize':
        return authorize(url.searchParams);
      case '/token':
        return token(form, authorization);
      case '/register':
        return register(JSON.parse(body || '{}'));
      case '/revoke':
        return revoke(form, authorization);
      case '/mcp':
        return mcp(request.method, body, authorization);
    }
    return text(404, 'not here');
  };

  const server = createServer((request, response) => {
    route(request)
      .catch((error) => text(500, String(error)))
      .then((answer) => {
        // One that hangs is ended with the server.
        if (answer === 'hang') return;
        response.writeHead(answer.status, { 'cache-control': 'no-store', ...answer.headers });
        response.end(answer.body);
      });
  });
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(settings.port, '127.0.0.1', resolve);
  });
  origin = `http://127.0.0.1:${server.address().port}`;

  return {
    origin,
    url: `${origin}/mcp`,
    settings,
    counts,
    /** Every request so far: { method, path, query, body, authorization }. */
    requests,
    /** Every secret that was given out. */
    issued,
    /** From now on no token of before is good; with 'access' the refresh tokens stay. */
    revokeAll(which = 'all') {
      accessTokens.clear();
      if (which === 'all') refreshTokens.clear();
    },
    /** Forgets every client. */
    forgetClients: () => clients.clear(),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** As the port of a program's own page is its choice of the moment, it does not count (RFC 8252). */
function isSameRedirect(known, given) {
  const [a, b] = [new URL(known), new URL(given)];
  if (a.hostname === '127.0.0.1') a.port = b.port;
  return a.href === b.href;
}

function answerMcp({ id, method, params }, client) {
  if (id === undefined) return text(202, '');
  const result = (value) => json(200, { jsonrpc: '2.0', id, result: value });
  switch (method) {
    case 'initialize':
      return result({
        protocolVersion: params?.protocolVersion ?? '2025-11-25',
        capabilities: { tools: {} },
        serverInfo: { name: 'behind-a-login', version: '1' },
      });
    case 'tools/list':
      return result({
        tools: [{ name: 'whoami', description: 'Says who has logged in.', inputSchema: { type: 'object' } }],
      });
    case 'tools/call':
      return result({ content: [{ type: 'text', text: `you came as ${client}` }] });
    case 'ping':
      return result({});
    default:
      return json(200, { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } });
  }
}

function json(status, value) {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
}

function text(status, body) {
  return { status, headers: { 'content-type': 'text/plain' }, body };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const setting = (name) => process.argv.find((word) => word.startsWith(`--${name}=`))?.split('=')[1];
  const server = await startAuthServer({
    port: Number(setting('port') ?? 0),
    accessSeconds: Number(setting('access-seconds') ?? DEFAULTS.accessSeconds),
    registration: !process.argv.includes('--no-registration'),
    ...(process.argv.includes('--deny') ? { deny: 'access_denied' } : {}),
  });
  console.log(server.url);
  process.stdin.resume().once('end', () => server.close());
}
