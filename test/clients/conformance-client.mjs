/**
 * The client that the conformance suite starts: a host of the built gateway, whose one server is the suite's. So what
 * the suite judges is how the gateway behaves towards servers.
 *
 *   node test/clients/conformance-client.mjs [VERSION] URL
 *
 * VERSION is the protocol version it speaks: 2025-11-25, the default, or 2026-07-28.
 *
 * The suite says in MCP_CONFORMANCE_SCENARIO what is wanted, and in MCP_CONFORMANCE_CONTEXT what else is to be known.
 * Where the gateway says that a login is needed, it is made as a person would: `switchboard auth`, the page that it
 * names, and back. SWITCHBOARD_PROGRAM names another program than dist/index.js.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const PROGRAM = process.env.SWITCHBOARD_PROGRAM ?? join(ROOT, 'dist/index.js');
/** Where the suite expects a client to be described; nobody fetches it. */
const DOCUMENT = 'https://conformance-test.local/client-metadata.json';
const LOGIN_ROUNDS = 3;
/** How long a running gateway may take to notice a login. */
const NOTICE_MS = 8000;
const PATIENCE_MS = 50_000;

const MODERN = '2026-07-28';
const url = process.argv.at(-1);
const isModern = process.argv.includes(MODERN);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? 'tools_call';
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const project = realpathSync(mkdtempSync(join(tmpdir(), 'switchboard-conformance-client-')));
const say = (text) => process.stderr.write(`${text}\n`);

const oauth = {
  ...(scenario === 'auth/basic-cimd' && { clientMetadataUrl: DOCUMENT }),
  ...(scenario.startsWith('auth/client-credentials') && {
    grant: 'client_credentials',
    clientId: context.client_id,
    clientSecret: context.client_secret,
    privateKey: context.private_key_pem,
    keyAlgorithm: context.signing_algorithm,
  }),
  ...(scenario === 'auth/wif-jwt-bearer' && {
    grant: 'jwt_bearer',
    clientId: context.client_id,
    assertion: context.valid_jwt,
  }),
  ...(scenario === 'auth/enterprise-managed-authorization' && {
    grant: 'token_exchange',
    clientId: context.client_id,
    clientSecret: context.client_secret,
    assertion: context.idp_id_token,
    identityProvider: { tokenEndpoint: context.idp_token_endpoint, clientId: context.idp_client_id },
  }),
  ...(scenario === 'auth/pre-registration' && {
    clientId: context.client_id,
    clientSecret: context.client_secret,
  }),
};
writeFileSync(
  join(project, 'switchboard.config.json'),
  JSON.stringify({
    exposure: 'flat',
    naming: 'plain',
    mcpServers: { remote: { type: 'http', url, ...(Object.keys(oauth).length > 0 && { oauth }) } },
  }),
);

/** What a scenario wants done, once the gateway has greeted us. Gives whether it all went well. */
const WANTED = {
  initialize: callFirst,
  tools_call: callFirst,
  'json-schema-ref-no-deref': async (host) => (await host.tools()).length > 0,
  'json-schema-2020-12-preservation': async (host) => {
    const focal = (await host.tools()).find(({ name }) => name === 'json_schema_2020_12_tool');
    return host.call('json_schema_echo', { schema: focal?.inputSchema });
  },
  'request-metadata': async (host) => (await host.tools()) !== undefined,
  'http-standard-headers': useEverything,
  'http-custom-headers': async (host) => {
    await host.tools();
    for (const { name, arguments: args } of context.toolCalls ?? []) await host.call(name, args);
    return true;
  },
  'http-invalid-tool-headers': async (host) => {
    for (const { name } of await host.tools()) await host.call(name, { region: 'us-west1' });
    return true;
  },
  'sse-retry': (host) => host.call('test_reconnection', {}),
  'elicitation-sep1034-client-defaults': (host) => host.call('test_client_elicitation_defaults', {}),
  'sep-2322-client-request-state': async (host) => {
    const tools = [
      'test_mrtr_echo_state',
      'test_mrtr_unrelated',
      'test_mrtr_no_state',
      'test_mrtr_no_result_type',
    ];
    await host.tools();
    let fine = true;
    for (const tool of tools) fine = (await host.call(tool, {})) && fine;
    return fine;
  },
};

let fine = false;
const host = startHost();
const limit = setTimeout(() => host.kill(), PATIENCE_MS);
try {
  await host.greet();
  fine = await (scenario.startsWith('auth/') ? useWithLogin(host) : WANTED[scenario](host));
} catch (error) {
  say(`The scenario failed: ${error.message}`);
} finally {
  await host.end();
  clearTimeout(limit);
  rmSync(project, { recursive: true, force: true });
}
process.exitCode = fine ? 0 : 1;

async function callFirst(it) {
  const [first] = await it.tools();
  return first === undefined || it.call(first.name, { a: 2, b: 3 });
}

/** One of everything whose name stands in a header too. */
async function useEverything(it) {
  for (const { name } of await it.tools()) await it.call(name, {});
  const { resources = [] } = (await it.ask('resources/list')).result ?? {};
  for (const { uri } of resources) await it.ask('resources/read', { uri });
  const { prompts = [] } = (await it.ask('prompts/list')).result ?? {};
  for (const { name } of prompts) await it.ask('prompts/get', { name });
  return true;
}

/** Uses the one tool of the suite's servers with a login, and logs in where the gateway says so. */
async function useWithLogin(it) {
  for (let round = 0; ; round++) {
    await it.tools();
    if (await useTool(it, round > 0)) return true;
    if (!it.lastError.includes('auth remote') || round === LOGIN_ROUNDS) return false;
    if (!(await logIn())) return false;
  }
}

/** A gateway that was refused tries again after a while, and only then finds the login that was made meanwhile. */
async function useTool(it, isLoggedIn) {
  const until = performance.now() + (isLoggedIn ? NOTICE_MS : 0);
  for (;;) {
    if (await it.call('test-tool', {})) return true;
    if (!it.lastError.includes('requires a login') || performance.now() > until) return false;
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

/** `switchboard auth`, and what a browser does with the address that it prints. */
async function logIn() {
  const child = run(['auth', 'remote', '--no-browser']);
  let visited = false;
  createInterface({ input: child.stderr }).on('line', (line) => {
    say(`[auth] ${line}`);
    const page = /^ {2}(https?:\S+)$/.exec(line)?.[1];
    if (page === undefined || visited) return;
    visited = true;
    fetch(page, { redirect: 'manual' })
      .then((answer) => fetch(answer.headers.get('location')))
      .catch((error) => {
        say(`[auth] The page could not be visited: ${error.message}`);
        child.kill('SIGTERM');
      });
  });
  child.stdout.resume();
  return (await exitOf(child)) === 0;
}

function startHost() {
  const child = run(['--stdio', '--log-level', 'warn']);
  const waiting = new Map();
  let lastId = 0;
  const capabilities = { elicitation: {}, sampling: {}, roots: {} };
  const clientInfo = { name: 'conformance-client', version: '1.0.0' };
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  child.stderr.on('data', (chunk) => process.stderr.write(chunk));
  child.stdin.on('error', () => {});
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line);
    if (message.method === undefined) waiting.get(message.id)?.(message);
    else if (message.id !== undefined) send({ id: message.id, ...answerTo(message) });
  });
  const ended = exitOf(child).then(() => {
    for (const answer of waiting.values()) answer({ error: { message: 'The gateway has ended.' } });
  });

  const request = (method, params) =>
    new Promise((resolve) => {
      const id = ++lastId;
      waiting.set(id, resolve);
      send({ id, method, params });
    });
  /** Every request says who asks; one that needs input is sent again with it. */
  const askModern = async (method, params = {}) => {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientInfo': clientInfo,
      'io.modelcontextprotocol/clientCapabilities': capabilities,
    };
    for (let more = {}; ;) {
      const answer = await request(method, { ...params, ...more, _meta });
      if (answer.result?.resultType !== 'input_required') return answer;
      const { inputRequests = {}, requestState } = answer.result;
      const responses = Object.entries(inputRequests).map(([key, each]) => [key, answerTo(each).result]);
      more = {
        ...(responses.length > 0 && { inputResponses: Object.fromEntries(responses) }),
        ...(requestState !== undefined && { requestState }),
      };
    }
  };

  const it = {
    /** What the last call that did not go well said. */
    lastError: '',
    kill: () => child.kill('SIGKILL'),
    ask: (method, params) => (isModern ? askModern(method, params) : request(method, params)),
    greet: async () => {
      if (isModern) return;
      await request('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo });
      send({ method: 'notifications/initialized' });
    },
    tools: async () => (await it.ask('tools/list')).result?.tools ?? [],
    call: async (name, args) => {
      const { result, error } = await it.ask('tools/call', { name, arguments: args });
      const isFine = error === undefined && result.isError !== true;
      if (!isFine) it.lastError = error?.message ?? JSON.stringify(result.content);
      say(`${name}: ${isFine ? JSON.stringify(result) : it.lastError}`);
      return isFine;
    },
    end: async () => {
      child.stdin.end();
      const stop = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await ended;
      clearTimeout(stop);
    },
  };
  return it;
}

/** What a person would answer who leaves every field as it is. Filling in the defaults is the host's part. */
function answerTo({ method, params }) {
  if (method === 'ping') return { result: {} };
  if (method === 'roots/list') return { result: { roots: [{ uri: 'file:///tmp', name: 'tmp' }] } };
  if (method === 'sampling/createMessage') {
    const content = { type: 'text', text: 'Paris' };
    return { result: { role: 'assistant', content, model: 'none', stopReason: 'endTurn' } };
  }
  if (method !== 'elicitation/create')
    return { error: { code: -32601, message: `Method not found: ${method}` } };
  const content = {};
  for (const [field, schema] of Object.entries(params.requestedSchema?.properties ?? {})) {
    if (schema.default !== undefined) content[field] = schema.default;
    else if (schema.type === 'boolean') content[field] = true;
    else if (schema.type === 'string') content[field] = 'text';
  }
  return { result: { action: 'accept', content } };
}

function run(args) {
  return spawn(process.execPath, [PROGRAM, ...args], {
    cwd: project,
    env: {
      ...process.env,
      SWITCHBOARD_STATE_DIR: join(project, 'state'),
      SWITCHBOARD_ALLOW_PROJECT: '1',
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

function exitOf(child) {
  return new Promise((resolve) => child.once('exit', resolve));
}
