/**
 * Answers initialize with a version of its own, or refuses.
 *
 *   node test/servers/versions.mjs [--answer=2099-01-01 | --answer-json=3 | --missing | --refuse | --modern-only]
 *
 * `--answer`: that protocolVersion whatever was asked. `--answer-json`: that JSON value. `--missing`: no protocolVersion.
 * `--refuse`: −32022 with data.supported, to everything. `--modern-only`: −32022 to initialize, and then 2026-07-28:
 * server/discover, tools/list, tools/call, each with the required _meta (else −32602).
 * Tools: script {bytes, cuts} (writes these bytes, given as base64, cut at these offsets, and then answers "right"; $id and
 * $token in them are those of the call), echo, pid, canary.
 */
import { basicTools } from './lib/echo-tools.mjs';
import { cutScript } from './lib/script.mjs';
import { RpcError, flag, nextTurn, serve, setting } from './lib/server.mjs';

const MODERN = '2026-07-28';
const PREFIX = 'io.modelcontextprotocol/';

function refuse(requested) {
  throw new RpcError(-32022, 'Unsupported protocol version', {
    supported: [MODERN],
    requested: requested ?? null,
  });
}

const modern = (make) => async (params, ctx, standard) => {
  const version = params?._meta?.[`${PREFIX}protocolVersion`];
  if (version === undefined || params._meta[`${PREFIX}clientCapabilities`] === undefined) {
    throw new RpcError(-32602, 'Missing _meta: protocolVersion and clientCapabilities');
  }
  if (version !== MODERN) refuse(version);
  const result = await make(params, ctx, standard);
  return {
    resultType: 'complete',
    ...result,
    _meta: { [`${PREFIX}serverInfo`]: { name: 'versions', version: '1.0.0' } },
  };
};

const modernMethods = {
  initialize: (params) => refuse(params?.protocolVersion),
  ping: () => {
    throw new RpcError(-32601, 'Method not found: ping');
  },
  'server/discover': modern(() => ({
    supportedVersions: [MODERN],
    capabilities: { tools: {} },
    ttlMs: 60_000,
    cacheScope: 'public',
  })),
  'tools/list': modern(async (params, ctx, standard) => ({
    ...(await standard(params, ctx)),
    ttlMs: 60_000,
    cacheScope: 'public',
  })),
  'tools/call': modern((params, ctx, standard) => standard(params, ctx)),
};

const refusing = (params) => refuse(params?.protocolVersion);
const refusingMethods = {
  initialize: refusing,
  'server/discover': refusing,
  'tools/list': refusing,
  'tools/call': refusing,
};

function versionAnswered() {
  if (flag('missing')) return { protocolVersion: undefined };
  if (setting('answer-json') !== undefined) return { protocolVersion: JSON.parse(setting('answer-json')) };
  return setting('answer') === undefined ? {} : { protocolVersion: setting('answer') };
}

/** The script that is being written: nothing else may come between its pieces. */
let writing = Promise.resolve();

async function runScript(args, { id, progressToken, server }) {
  writing = write(cutScript(args, { id, progressToken }), server);
  await writing;
  return 'right';
}

async function write(pieces, server) {
  for (const piece of pieces) {
    server.write(piece);
    await nextTurn();
  }
}

const afterScript = ([name, tool]) => [
  name,
  {
    ...tool,
    run: async (...given) => {
      await writing;
      return tool.run(...given);
    },
  },
];
const otherTools = Object.fromEntries(Object.entries(basicTools).map(afterScript));

serve({
  name: 'versions',
  methods: flag('modern-only') ? modernMethods : flag('refuse') ? refusingMethods : {},
  initializeResult: versionAnswered(),
  tools: { ...otherTools, script: { run: runScript } },
});
