/** HTTP clients of every protocol version that connect, do one thing and leave. */
import { request as httpRequest } from 'node:http';

export const MODERN = '2026-07-28';
/** The versions that hosts use over stdio. */
export const STDIO_VERSIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', MODERN];

const CLIENT_INFO = { name: 'soak', version: '1.0.0' };
const META = 'io.modelcontextprotocol/';
const ENVELOPE = {
  [`${META}protocolVersion`]: MODERN,
  [`${META}clientInfo`]: CLIENT_INFO,
  [`${META}clientCapabilities`]: {},
};
const BOTH = 'application/json, text/event-stream';
const DEADLINE_MS = 60_000;

/** The visits, by name. Each takes the target and a number, and throws if it is not served correctly. */
export const VISITS = {
  [`${MODERN} call`]: (target, n) => callModern(target, 'shared', `modern ${n}`),
  [`${MODERN} call of its own server`]: (target, n) => callModern(target, 'own', `own ${n}`),
  [`${MODERN} large call`]: (target, n) => callModern(target, 'shared', `${n} `.padEnd(200_000, 'x')),
  [`${MODERN} list`]: async (target) => {
    const { result } = await askModern(target, 'tools/list', {});
    if (!result.tools.some(({ name }) => name === 'shared_suite')) throw new Error('The list is incomplete.');
  },
  [`${MODERN} listening`]: async (target) => {
    const notifications = { toolsListChanged: true };
    const stream = await openStream(target, modernPost('subscriptions/listen', { notifications }));
    await stream.until(/\n\n/);
    stream.destroy();
  },
  '2025-11-25 session': (target, n) => visitSession(target, '2025-11-25', n),
  '2025-06-18 session': (target, n) => visitSession(target, '2025-06-18', n),
  '2025-03-26 session': (target, n) => visitSession(target, '2025-03-26', n),
  '2025-11-25 session with its own server': async (target, n) => {
    // Each starts a process, so only every tenth visit does it.
    if (n % 10 === 0) await visitSession(target, '2025-11-25', n, 'own');
    else await callModern(target, 'shared', `instead ${n}`);
  },
  [`${MODERN} call of a server that runs for it alone`]: async (target, n) => {
    if (n % 10 === 0) await callModern(target, 'each', `each ${n}`);
    else await callModern(target, 'remote', `instead ${n}`);
  },
  [`${MODERN} call of a remote server`]: (target, n) => callModern(target, 'remote_modern', `remote ${n}`),
  '2025-06-18 session with remote servers': (target, n) =>
    visitSession(target, '2025-06-18', n, n % 2 === 0 ? 'remote' : 'remote_modern'),
  '2025-11-25 session that nobody ends': async (target, n) => {
    const session = await openSession(target, '2025-11-25');
    await callInSession(target, session, 'shared', `left ${n}`);
  },
  '2024-11-05 event stream': visitOlder,
  'call that is given up': async (target) => {
    const call = modernPost('tools/call', suiteCall('shared', 'slow_echo', { text: 'never', ms: 5000 }));
    await giveUp(target, call, 20);
  },
  'stranger without a token': async (target) => {
    const { status } = await exchange({ ...target, token: 'wrong' }, modernPost('tools/list', {}));
    if (status !== 401) throw new Error(`A stranger got ${status}.`);
  },
  'body that is no message': async (target, n) => {
    const { status } = await exchange(target, { ...modernPost('tools/list', {}), body: `{"garbage ${n}` });
    if (status !== 400) throw new Error(`Garbage got ${status}.`);
  },
};

/** A client whose token is revoked while it has a session, an open stream and servers of its own. */
export async function visitUntilRevoked(target, n, revoke) {
  await callModern(target, 'own', `before ${n}`);
  const session = await openSession(target, '2025-11-25');
  const stream = await openStream(target, { method: 'GET', headers: session });
  try {
    await callInSession(target, session, 'own', `before ${n}`);
    await revoke();
    await stream.closed;
  } finally {
    stream.destroy();
  }
  const { status } = await exchange(target, modernPost('tools/list', {}));
  if (status !== 401) throw new Error(`A revoked token got ${status}.`);
}

/** The server did not respond, which happens if it has just been killed. */
export class ServerFailed extends Error {}

export function suiteCall(server, subtool, args) {
  return { name: `${server}_suite`, arguments: { action: 'call', subtool, args } };
}

/** The params, with the `_meta` that every request of that version needs. */
export function envelope(version, params) {
  return version === MODERN ? { ...params, _meta: ENVELOPE } : params;
}

export function initialize(version) {
  const params = { protocolVersion: version, capabilities: {}, clientInfo: CLIENT_INFO };
  return { jsonrpc: '2.0', id: 0, method: 'initialize', params };
}

/** Throws unless the echo returned the text that was sent. */
export function checkEcho({ result, error }, text) {
  const said = result?.content?.[0]?.text;
  if (error !== undefined || result?.isError === true) throw new ServerFailed(error?.message ?? said);
  if (said !== text) throw new Error(`A wrong answer: ${String(said).slice(0, 200)}`);
}

export async function callModern(target, server, text) {
  checkEcho(await askModern(target, 'tools/call', suiteCall(server, 'echo', { text })), text);
}

async function askModern(target, method, params) {
  const { status, text } = await exchange(target, modernPost(method, params));
  if (status !== 200) throw new Error(`${method} got ${status}: ${text.slice(0, 200)}`);
  return messageIn(text);
}

let lastId = 0;

function modernPost(method, params) {
  const { name } = params;
  return {
    headers: {
      'mcp-protocol-version': MODERN,
      'mcp-method': method,
      ...(name === undefined ? {} : { 'mcp-name': name }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: ++lastId, method, params: envelope(MODERN, params) }),
  };
}

async function visitSession(target, version, n, server = 'shared') {
  const session = await openSession(target, version);
  const stream = await openStream(target, { method: 'GET', headers: session });
  try {
    await callInSession(target, session, server, `session ${n}`);
  } finally {
    stream.destroy();
  }
  const { status } = await exchange(target, { method: 'DELETE', headers: session });
  if (status !== 204) throw new Error(`The end of a session got ${status}.`);
}

async function openSession(target, version) {
  const { status, headers, text } = await exchange(target, { body: JSON.stringify(initialize(version)) });
  const id = headers['mcp-session-id'];
  if (status !== 200 || id === undefined) throw new Error(`initialize got ${status}: ${text.slice(0, 200)}`);
  const session = { 'mcp-session-id': id, 'mcp-protocol-version': version };
  await exchange(target, { headers: session, body: INITIALIZED });
  return session;
}

const INITIALIZED = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' });

async function callInSession(target, headers, server, text) {
  const params = suiteCall(server, 'echo', { text });
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const answer = await exchange(target, { headers, body });
  if (answer.status !== 200) throw new Error(`tools/call got ${answer.status}: ${answer.text.slice(0, 200)}`);
  checkEcho(messageIn(answer.text), text);
}

/** The older HTTP transport: responses to what is posted arrive on the stream. */
async function visitOlder(target, n) {
  const stream = await openStream(target, { method: 'GET', path: '/sse' });
  try {
    const endpoint = /^data: (\S+)\n\n/m;
    await stream.until(endpoint);
    const [, path] = endpoint.exec(stream.text);
    const say = (body) => exchange(target, { path, body });
    await say(JSON.stringify(initialize('2024-11-05')));
    await stream.until(/"id":0[,}]/);
    await say(INITIALIZED);
    const params = suiteCall('shared', 'echo', { text: `older ${n}` });
    await say(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }));
    await stream.until(/"id":1[,}].*\n\n/);
  } finally {
    stream.destroy();
  }
  checkEcho(messageIn(stream.text), `older ${n}`);
}

/** The last response in a body, which is JSON or an event stream. */
function messageIn(text) {
  if (text.startsWith('{')) return JSON.parse(text);
  const events = text.split('\n').filter((line) => line.startsWith('data: {'));
  return events.map((line) => JSON.parse(line.slice('data: '.length))).findLast((message) => !message.method);
}

/** Sends a request on a separate connection; resolves with its whole response. */
function exchange(target, options) {
  return new Promise((resolve, reject) => {
    const request = start(target, options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text }));
      response.on('error', reject);
    });
    request.on('error', reject);
  });
}

/** Opens an event stream, which stays open until it is destroyed. */
function openStream(target, options) {
  return new Promise((resolve, reject) => {
    const waiting = new Set();
    let close;
    const stream = {
      closed: new Promise((done) => (close = done)),
      text: '',
      /** Resolves when this has arrived. */
      until: (pattern) =>
        new Promise((done, failed) => {
          waiting.add({ pattern, done, failed });
          look();
        }),
      destroy: () => request.destroy(),
    };
    const look = () => {
      for (const wanted of waiting) {
        if (!wanted.pattern.test(stream.text)) continue;
        waiting.delete(wanted);
        wanted.done();
      }
    };
    const request = start(target, options, (response) => {
      response.on('error', () => undefined);
      response.on('close', close);
      response.on('close', () => waiting.forEach(({ failed }) => failed(new Error('A stream was closed.'))));
      response.setEncoding('utf8').on('data', (chunk) => {
        stream.text += chunk;
        look();
      });
      if (response.statusCode === 200) resolve(stream);
      else {
        request.destroy();
        reject(new Error(`A stream got ${response.statusCode}.`));
      }
    });
    request.on('error', reject);
  });
}

/** Sends a request and closes the connection before it can be answered. */
function giveUp(target, options, ms) {
  return new Promise((resolve) => {
    const request = start(target, options, () => undefined);
    request.on('error', () => undefined).on('close', resolve);
    setTimeout(() => request.destroy(), ms);
  });
}

function start({ port, token }, { method = 'POST', path = '/mcp', headers = {}, body }, answered) {
  const request = httpRequest(
    {
      host: '127.0.0.1',
      port,
      method,
      path,
      agent: false,
      headers: {
        authorization: `Bearer ${token}`,
        accept: BOTH,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
    },
    answered,
  );
  request.setTimeout(DEADLINE_MS, () => request.destroy(new Error('No answer within a minute.')));
  return request.end(body);
}
