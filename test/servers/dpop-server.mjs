/**
 * An MCP server that takes tokens of an identity provider, each with a proof that the sender has its key (RFC 9449). In a
 * test: `const server = await startDpopServer({ … })`, with the options below; `server.settings` may be changed while it
 * runs. `server.settings.issuer` is the provider, which needs `server.resource` and so is started later.
 *
 * It checks signatures with `jose`, takes no proof twice, and remembers each request in `server.requests`. /mcp is
 * Streamable HTTP with a session and a stream of the server's own, /sse the older transport, /moved redirects to
 * `settings.moved`. Its one tool, whoami, says who came and with which key.
 */
import { createHash, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { calculateJwkThumbprint, createRemoteJWKSet, EmbeddedJWK, jwtVerify } from 'jose';

const DEFAULTS = {
  issuer: undefined,
  /** Whether proofs must contain a nonce: one that it gave out and has not seen again. */
  nonces: false,
  /** What it says in the place of a nonce, always; undefined: see above. */
  nonce: undefined,
  /** What it refuses every proof with. */
  refuse: undefined,
  /** The type of login that its 401 names. */
  scheme: 'DPoP',
  /** What else is in the description of the resource. */
  about: {},
  /** Where /moved leads, with 307. */
  moved: undefined,
};

export async function startDpopServer(options = {}) {
  const settings = { ...DEFAULTS, ...options };
  const requests = [];
  const seen = new Set();
  const nonces = new Set();
  const streams = new Map();
  let keys;

  /** Throws what is wrong with a request; gives who it comes from. */
  const check = async (request, url) => {
    const [scheme, token] = (request.headers.authorization ?? '').split(' ');
    if (token === undefined) throw 'invalid_token: none';
    if (settings.refuse !== undefined) throw settings.refuse;
    keys ??= createRemoteJWKSet(new URL('/jwks', settings.issuer));
    const { payload: claims } = await jwtVerify(token, keys, {
      issuer: settings.issuer,
      audience: it.resource,
    }).catch((error) => {
      throw `invalid_token: ${error.message}`;
    });
    if (settings.scheme === 'Bearer') {
      if (scheme !== 'Bearer' || claims.cnf !== undefined) throw 'invalid_token: not a bearer token';
      return { user: claims.sub, key: undefined };
    }
    if (scheme !== 'DPoP') throw 'invalid_token: not bound';
    const { payload: proof, protectedHeader } = await jwtVerify(request.headers.dpop ?? '', EmbeddedJWK, {
      typ: 'dpop+jwt',
      algorithms: ['ES256'],
    }).catch((error) => {
      throw `invalid_dpop_proof: ${error.message}`;
    });
    const wrong = [
      ['htm', proof.htm !== request.method],
      ['htu', proof.htu !== url.origin + url.pathname],
      ['iat', Math.abs(proof.iat - Date.now() / 1000) > 30],
      ['ath', proof.ath !== createHash('sha256').update(token).digest('base64url')],
      ['jti', typeof proof.jti !== 'string' || seen.has(proof.jti)],
      [
        'jwk',
        (await calculateJwkThumbprint(protectedHeader.jwk)) !== claims.cnf?.jkt || protectedHeader.jwk.d,
      ],
    ].find(([, isWrong]) => isWrong);
    if (wrong !== undefined) throw `invalid_dpop_proof: ${wrong[0]}`;
    seen.add(proof.jti);
    const needsNonce = settings.nonces || settings.nonce !== undefined;
    if (needsNonce && !nonces.delete(proof.nonce)) throw 'use_dpop_nonce';
    return { user: claims.sub, key: claims.cnf.jkt, jti: proof.jti };
  };

  const newNonce = () => {
    if (settings.nonce !== undefined) return settings.nonce();
    const nonce = randomUUID();
    nonces.add(nonce);
    return nonce;
  };

  const route = async (request, response) => {
    const url = new URL(request.url, it.origin);
    const send = (status, body, headers = {}) => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(body === undefined ? undefined : JSON.stringify(body));
    };
    if (url.pathname.startsWith('/.well-known/oauth-protected-resource')) {
      const about = {
        resource: it.resource,
        authorization_servers: [settings.issuer],
        scopes_supported: ['mcp'],
      };
      return send(200, { ...about, ...settings.about });
    }
    if (!['/mcp', '/sse', '/messages', '/moved'].includes(url.pathname)) return send(404, {});
    const text = await textOf(request);
    const entry = { method: request.method, path: url.pathname, headers: request.headers, text };
    requests.push(entry);
    try {
      entry.from = await check(request, url);
    } catch (error) {
      entry.problem = String(error);
    }
    if (settings.nonces || settings.nonce !== undefined) response.setHeader('DPoP-Nonce', newNonce());
    if (entry.problem !== undefined) {
      const code = entry.problem.split(':')[0];
      const metadata = `${it.origin}/.well-known/oauth-protected-resource`;
      const error = entry.headers.authorization === undefined ? '' : `error="${code}", `;
      const challenge = `${settings.scheme} ${error}resource_metadata="${metadata}"`;
      return send(401, { error: code }, { 'WWW-Authenticate': challenge });
    }
    if (url.pathname === '/moved') return send(307, undefined, { Location: settings.moved });
    if (url.pathname === '/sse') {
      if (request.method !== 'GET') return send(405);
      const id = randomUUID();
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: endpoint\ndata: /messages?session=${id}\n\n`);
      streams.set(id, response);
      return undefined;
    }
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      return response.write(': open\n\n');
    }
    if (request.method === 'DELETE') return send(200);
    const answer = answerTo(JSON.parse(text), entry.from);
    if (url.pathname === '/messages') {
      if (answer !== undefined)
        streams.get(url.searchParams.get('session')).write(`data: ${JSON.stringify(answer)}\n\n`);
      return send(202);
    }
    return answer === undefined ? send(202) : send(200, answer, { 'mcp-session-id': 'the-session' });
  };

  const server = createServer((request, response) => {
    route(request, response).catch((error) => response.destroy(error));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${server.address().port}`;
  const it = {
    origin,
    url: `${origin}/mcp`,
    resource: origin,
    settings,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return it;
}

async function textOf(request) {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}

function answerTo({ id, method, params }, { user, key }) {
  if (id === undefined) return undefined;
  const results = {
    initialize: () => ({
      protocolVersion: params?.protocolVersion ?? '2025-11-25',
      capabilities: { tools: {} },
      serverInfo: { name: 'bound', version: '1' },
    }),
    'tools/list': () => ({
      tools: [{ name: 'whoami', description: 'Who came.', inputSchema: { type: 'object' } }],
    }),
    'tools/call': () => ({ content: [{ type: 'text', text: `${user} with ${key ?? 'no key'}` }] }),
    ping: () => ({}),
  };
  const result = results[method]?.();
  return result === undefined
    ? { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } }
    : { jsonrpc: '2.0', id, result };
}
