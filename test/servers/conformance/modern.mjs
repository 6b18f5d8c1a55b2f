/**
 * Requests of the modern era: each stands alone and brings its version and the capabilities of its client with it.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { answer, CAPABILITY_FOR, InputRequired, lacking, RpcError, runTool, telling } from './answer.mjs';
import { createTask, taskMethod, TASKS } from './tasks.mjs';
import { INSTRUCTIONS, MODERN_VERSION, SERVER_INFO } from './server-state.mjs';

export const KEY = (name) => `io.modelcontextprotocol/${name}`;

const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  logging: {},
  completions: {},
  extensions: { [TASKS]: {} },
};

/** What may be kept by whom, for how long: short, so that a cache in between shows in a test. */
const CACHE = { ttlMs: 1000, cacheScope: 'private' };
const CACHED = [
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
];

/** Fixed, so that the second round of a call may be taken by another process than the first. */
const SECRET = 'a key for tests, known to everybody';

/**
 * Answers one request. Gives the JSON-RPC reply without its id, and the status for HTTP.
 *
 * @param way.send    takes notifications that belong to this request
 * @param way.signal  aborted when the client cancels it
 * @param way.check   more checks of the transport, once the envelope is known to be right
 */
export async function answerModern(serverState, request, way) {
  try {
    return { status: 200, reply: { result: await run(serverState, request, way) } };
  } catch (error) {
    if (error instanceof InputRequired) return { status: 200, reply: { result: withIdentity(error.result) } };
    if (error instanceof RpcError) return { status: error.status ?? 200, reply: { error } };
    return { status: 500, reply: { error: { code: -32603, message: error.message } } };
  }
}

/** Refuses a request whose envelope is missing, incomplete or of another version. */
export function checkEnvelope(params, headerVersion) {
  const meta = params?._meta;
  const version = meta?.[KEY('protocolVersion')];
  if (typeof version !== 'string')
    throw new RpcError(-32602, `Missing _meta["${KEY('protocolVersion')}"]`, undefined, 400);
  if (headerVersion !== undefined && headerVersion !== version) {
    throw new RpcError(-32020, 'MCP-Protocol-Version differs from the body', undefined, 400);
  }
  if (version !== MODERN_VERSION) {
    throw new RpcError(
      -32022,
      'Unsupported protocol version',
      { supported: [MODERN_VERSION], requested: version },
      400,
    );
  }
  const capabilities = meta[KEY('clientCapabilities')];
  if (typeof capabilities !== 'object' || capabilities === null || Array.isArray(capabilities)) {
    throw new RpcError(-32602, `Missing _meta["${KEY('clientCapabilities')}"]`, undefined, 400);
  }
  return { capabilities, logLevel: meta[KEY('logLevel')] };
}

async function run(serverState, request, way) {
  const { method } = request;
  const params = request.params ?? {};
  const { capabilities, logLevel } = checkEnvelope(params, way.headerVersion);
  way.check?.(request, serverState);
  const given = await dispatch(serverState, request, params, { ...way, capabilities, logLevel });
  if (given === undefined) throw new RpcError(-32601, `Method not found: ${method}`, undefined, 404);
  return withIdentity({ resultType: 'complete', ...(CACHED.includes(method) && CACHE), ...given });
}

function dispatch(serverState, { id, method }, params, way) {
  if (method === 'server/discover')
    return { supportedVersions: [MODERN_VERSION], capabilities: CAPABILITIES, instructions: INSTRUCTIONS };
  if (method === 'subscriptions/listen') return listen(serverState, id, params.notifications ?? {}, way);
  const call = callFor(serverState, params, way);
  return taskMethod(method, params, call) ?? answer(method, params, call);
}

function callFor(serverState, params, way) {
  const rounds = new Rounds(params);
  const can = (method) => way.capabilities[CAPABILITY_FOR[method]] !== undefined;
  const need = (name) => {
    if (way.capabilities[name] === undefined) throw lacking({ [name]: {} });
  };
  const call = {
    serverState,
    era: 'modern',
    signal: way.signal,
    ...telling(way.send, params, () => way.logLevel),
    can,
    need,
    hasTasks: way.capabilities.extensions?.[TASKS] !== undefined,
    ask: async (requests, { withState = false } = {}) => {
      for (const { method } of Object.values(requests)) need(CAPABILITY_FOR[method]);
      return rounds.ask(requests, withState);
    },
    runTool: (tool, { arguments: args = {} }) => {
      if (tool.task === undefined) return runTool(tool, args, call);
      if (call.hasTasks) return createTask(tool, args, call);
      if (tool.task === 'required') throw lacking({ extensions: { [TASKS]: {} } });
      return runTool(tool, args, call);
    },
  };
  return call;
}

/**
 * The rounds of one call. A tool is run from its start in each round; what was answered in earlier ones comes back
 * inside the sealed requestState.
 */
class Rounds {
  #answers;
  #asked = {};
  #name;

  constructor({ name, uri, inputResponses, requestState }) {
    this.#name = name ?? uri ?? '';
    if (inputResponses !== undefined && !isObject(inputResponses)) {
      throw new RpcError(-32602, 'inputResponses is not an object');
    }
    const earlier = requestState === undefined ? {} : this.#unseal(requestState);
    this.#answers = { ...earlier, ...inputResponses };
  }

  ask(requests, withState) {
    const fits = ([key, { method }]) => VALID[method](own(this.#answers, key));
    const known = Object.entries(requests).filter(fits);
    for (const [key] of known) this.#asked[key] = this.#answers[key];
    if (known.length === Object.keys(requests).length) {
      return Object.fromEntries(known.map(([key]) => [key, this.#answers[key]]));
    }
    const missing = Object.fromEntries(Object.entries(requests).filter((entry) => !fits(entry)));
    const keep = withState || Object.keys(this.#asked).length > 0;
    throw new InputRequired(missing, keep ? this.#seal(this.#asked) : undefined);
  }

  #seal(answers) {
    const body = Buffer.from(JSON.stringify({ name: this.#name, answers })).toString('base64url');
    return `${body}.${sign(body)}`;
  }

  #unseal(state) {
    const [body = '', seal = ''] = typeof state === 'string' ? state.split('.') : [];
    const [got, right] = [Buffer.from(seal), Buffer.from(sign(body))];
    if (got.length !== right.length || !timingSafeEqual(got, right)) {
      throw new RpcError(-32602, 'requestState is not one of this server');
    }
    const { name, answers } = JSON.parse(Buffer.from(body, 'base64url').toString());
    if (name !== this.#name) throw new RpcError(-32602, 'requestState belongs to another request');
    return answers;
  }
}

const sign = (body) => createHmac('sha256', SECRET).update(body).digest('base64url');
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
const own = (table, key) => (Object.hasOwn(table, key) ? table[key] : undefined);

/** Whether an answer has the shape that its question wants; one that has not is asked for again. */
const VALID = {
  'elicitation/create': (given) => isObject(given) && ['accept', 'decline', 'cancel'].includes(given.action),
  'sampling/createMessage': (given) => isObject(given) && typeof given.role === 'string',
  'roots/list': (given) => isObject(given) && Array.isArray(given.roots),
};

/** One long request: says what it will tell, tells it, and is answered when the server ends it. */
function listen(serverState, id, wanted, { send, signal }) {
  const tag = { [KEY('subscriptionId')]: id };
  const lists = ['tools', 'prompts', 'resources'].filter((what) => wanted[`${what}ListChanged`] === true);
  const uris = Array.isArray(wanted.resourceSubscriptions) ? wanted.resourceSubscriptions : [];
  const notifications = Object.fromEntries(lists.map((what) => [`${what}ListChanged`, true]));
  if (uris.length > 0) notifications.resourceSubscriptions = uris;
  send({ method: 'notifications/subscriptions/acknowledged', params: { _meta: tag, notifications } });
  return new Promise((resolve) => {
    const onChange = ({ what, uri }) => {
      if (uri === undefined && lists.includes(what)) {
        send({ method: `notifications/${what}/list_changed`, params: { _meta: tag } });
      } else if (uri !== undefined && uris.includes(uri)) {
        send({ method: 'notifications/resources/updated', params: { _meta: tag, uri } });
      }
    };
    serverState.listeners.add(onChange);
    signal.addEventListener('abort', () => {
      serverState.listeners.delete(onChange);
      resolve({ _meta: tag });
    });
  });
}

function withIdentity(result) {
  return { ...result, _meta: { ...result._meta, [KEY('serverInfo')]: SERVER_INFO } };
}
