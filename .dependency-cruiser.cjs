// The import table of ARCHITECTURE.md, as rules. `shared` may be imported by everyone.
const folders = {
  shared: [],
  wire: [],
  process: [],
  secrets: [],
  audit: [],
  config: ['secrets'],
  protocol: ['wire'],
  gateway: ['protocol', 'wire'],
  search: ['gateway', 'protocol', 'wire'],
  exposure: ['gateway', 'protocol', 'wire', 'search'],
  code: ['search', 'exposure', 'gateway', 'protocol', 'wire'],
  language: ['gateway', 'protocol', 'wire'],
  trust: ['gateway', 'protocol', 'wire', 'store'],
  upstream: ['gateway', 'protocol', 'wire', 'process'],
  results: ['gateway', 'protocol', 'wire', 'process'],
  management: ['gateway', 'protocol', 'wire', 'config'],
  doors: ['gateway', 'protocol', 'wire'],
  store: [],
  replicas: ['store'],
  // In layers; see below. Its features/mcp/ alone knows the core.
  switchyard: ['process', 'gateway', 'protocol', 'wire'],
  hooks: ['gateway', 'protocol', 'wire'],
  metrics: ['gateway', 'protocol'],
  telemetry: ['gateway', 'protocol', 'wire'],
  identity: [],
  roles: ['gateway', 'protocol', 'wire', 'store'],
  hosts: [],
  console: [],
};
// These may know the configuration's types, never run its code.
const typesOfConfig = ['exposure', 'hooks', 'trust', 'language', 'upstream', 'doors', 'roles'];
// These run on bytes and values only: no disk, no network, no process.
const pure = ['wire', 'protocol', 'gateway', 'exposure'];

// The folders of upstream, in layers: each may import those before it. The root holds what all of them share.
const upstreamLayers = ['handshake', 'lists', 'modern', 'http', 'run', 'connection'];

/**
 * The layers of switchyard: each may import those before it. A folder may also import the root of its own layer, which
 * holds what all its folders share, and the folders that its row names. A row names only rows before it, so no two
 * folders import each other.
 */
const yardLayers = {
  records: {
    git: [],
    config: ['git'],
    state: ['git', 'config'],
    project: ['git', 'config', 'state'],
  },
  runtime: {
    ports: [],
    sockets: [],
    logs: [],
    processes: [],
    daemon: ['processes'],
    readiness: ['sockets', 'processes'],
    services: ['ports', 'processes', 'readiness'],
    start: ['ports', 'sockets', 'logs', 'processes', 'readiness', 'services'],
  },
  features: {
    init: [],
    skill: [],
    logs: [],
    proxy: [],
    forwarder: [],
    checkout: ['forwarder'],
    down: ['checkout'],
    worktrees: ['checkout', 'down'],
    up: ['proxy', 'checkout', 'worktrees'],
    projects: ['checkout'],
    status: ['proxy', 'checkout'],
    where: ['proxy', 'checkout'],
    brief: ['proxy', 'checkout', 'worktrees'],
    doctor: ['proxy', 'checkout', 'worktrees'],
    mcp: ['logs', 'checkout', 'down', 'worktrees', 'up', 'status', 'where', 'brief', 'doctor'],
  },
};

const rules = [
  ...yardRules(),
  ...upstreamLayers.slice(0, -1).map((layer, index) => ({
    name: `upstream-${layer}-is-below`,
    severity: 'error',
    from: { path: `^src/upstream/${layer}/`, pathNot: '\\.(test|cases)\\.ts$' },
    to: { path: `^src/upstream/((${upstreamLayers.slice(index + 1).join('|')})/|source\\.ts$)` },
  })),
  {
    name: 'upstream-auth-knows-no-layer',
    severity: 'error',
    from: { path: '^src/upstream/auth/' },
    to: { path: `^src/upstream/((${upstreamLayers.join('|')})/|source\\.ts$)` },
  },
  {
    name: 'upstream-auth-is-behind-login',
    severity: 'error',
    from: { path: '^src/upstream/', pathNot: ['^src/upstream/(auth/|login\\.ts$)', '\\.test\\.ts$'] },
    to: { path: '^src/upstream/auth/' },
  },
  {
    name: 'no-cycles',
    severity: 'error',
    from: {},
    to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
  },
  {
    name: 'no-unresolved',
    severity: 'error',
    from: { path: '^src' },
    // What is compiled from src/wire/assembly is no file.
    to: { couldNotResolve: true, pathNot: '^\\./(assembly/.+\\.wasm|thread/.+\\.thread)$' },
  },
  {
    name: 'no-tests-from-code',
    severity: 'error',
    from: { path: '^src', pathNot: '\\.(test|cases)\\.ts$' },
    to: { path: '\\.(test|cases)\\.ts$|^test/' },
  },
  {
    name: 'folders-meet-at-index',
    comment:
      'Other folders import folder/index.ts only; shared is imported file by file. What switchyard shows to agents has an ' +
      'index of its own, and so has what wraps folders, so that who wants that alone does not load the rest.',
    severity: 'error',
    // The programs in bins have a rule of their own.
    from: { path: '^src/([^/]+)/|^src/yard\\.ts$', pathNot: '^src/bins/' },
    to: {
      path: '^src/([^/]+)/.+',
      pathNot: [
        '^src/$1/',
        '^src/shared/',
        '^src/[^/]+/index\\.ts$',
        '^src/(switchyard/features/mcp|language/wrap)/index\\.ts$',
      ],
    },
  },
  {
    name: 'switchyard-meets-the-core-in-mcp',
    severity: 'error',
    from: { path: '^src/switchyard/', pathNot: ['^src/switchyard/features/mcp/', '\\.test\\.ts$'] },
    to: { path: '^src/(gateway|protocol|wire)/' },
  },
  {
    name: 'yard-is-for-the-command-line',
    severity: 'error',
    from: { path: '^src/', pathNot: ['^src/cli/switchyard/', '\\.test\\.ts$'] },
    to: { path: '^src/yard\\.ts$' },
  },
  {
    name: 'the-entries-know-the-command-line-only',
    severity: 'error',
    from: { path: ['^src/index\\.ts$', '^src/bins/'] },
    to: {
      path: '^src/',
      pathNot: '^src/cli/(kit/compile-cache|switchboard/(main|variants)|switchyard/main)\\.ts$',
    },
  },
  {
    name: 'the-kit-knows-no-program',
    severity: 'error',
    from: { path: '^src/cli/kit/' },
    to: { path: '^src/', pathNot: '^src/(cli/kit|shared)/' },
  },
  {
    name: 'what-programs-share-knows-no-program',
    severity: 'error',
    from: { path: '^src/cli/common/' },
    to: { path: '^src/cli/', pathNot: '^src/cli/(kit|common)/' },
  },
  {
    name: 'programs-meet-in-kit-and-common',
    severity: 'error',
    from: { path: '^src/cli/(switchboard|switchyard)/' },
    to: { path: '^src/cli/(switchboard|switchyard)/', pathNot: '^src/cli/$1/' },
  },
  {
    name: 'the-sdk-stays-at-the-edges',
    severity: 'error',
    from: { path: '^src', pathNot: ['^src/(upstream|doors)/', '\\.test\\.ts$'] },
    to: { path: '@modelcontextprotocol/' },
  },
  {
    name: 'pure-folders-use-no-node-module',
    severity: 'error',
    from: { path: `^src/(${pure.join('|')})/`, pathNot: '\\.(test|cases)\\.ts$' },
    to: { dependencyTypes: ['core'], dependencyTypesNot: ['type-only'] },
  },
  {
    name: 'child-process-lives-in-process',
    severity: 'error',
    from: { path: '^src', pathNot: ['^src/process/', '\\.test\\.ts$'] },
    to: { path: '^(node:)?child_process$' },
  },
  {
    name: 'toml-lives-where-files-are-read',
    severity: 'error',
    from: {
      path: '^src',
      pathNot: ['^src/(switchyard/records/config|hosts)/', '^src/shared/toml-', '\\.test\\.ts$'],
    },
    to: { path: '(^|/)node_modules/smol-toml/' },
  },
  {
    name: 'the-interpreter-lives-in-code-thread',
    severity: 'error',
    from: { path: '^src', pathNot: ['^src/code/thread/', '\\.test\\.ts$'] },
    to: { path: 'node_modules/(quickjs-emscripten-core|@jitl|sucrase)/' },
  },
  {
    name: 'the-client-of-redis-lives-in-store',
    severity: 'error',
    from: { path: '^src', pathNot: ['^src/store/', '\\.test\\.ts$'] },
    to: { path: '(^|/)node_modules/@redis/' },
  },
  {
    name: 'model-libraries-live-in-language-models',
    severity: 'error',
    from: { path: '^src', pathNot: ['^src/language/models/', '\\.test\\.ts$'] },
    to: { path: '(^|/)node_modules/@anthropic-ai/' },
  },
  {
    name: 'the-page-of-the-console-knows-the-protocol-only',
    comment: 'It runs in a browser.',
    severity: 'error',
    from: { path: '^src/console/page/', pathNot: '\\.test\\.ts$' },
    to: {
      path: '^src/',
      pathNot: '^src/console/(page/|protocol\\.ts$)',
    },
  },
  {
    name: 'only-the-page-knows-the-page',
    severity: 'error',
    from: { path: '^src/', pathNot: '^src/console/page/' },
    to: { path: '^src/console/page/' },
  },
  {
    name: 'preact-lives-in-the-page-of-the-console',
    severity: 'error',
    from: { path: '^src', pathNot: '^src/console/page/' },
    to: { path: '(^|/)node_modules/(@preact|preact)/' },
  },
  {
    name: 'zod-lives-in-config',
    severity: 'error',
    from: { path: '^src', pathNot: '^src/config/' },
    to: { path: '(^|/)node_modules/zod/' },
  },
  {
    name: 'opentelemetry-lives-in-telemetry',
    severity: 'error',
    from: { path: '^src', pathNot: '^src/telemetry/' },
    to: { path: '(^|/)node_modules/@opentelemetry/' },
  },
  {
    name: 'only-app-knows-every-part',
    severity: 'error',
    from: { path: '^src/', pathNot: ['^src/(app|cli)/', '\\.test\\.ts$'] },
    to: { path: '^src/app/' },
  },
  {
    name: 'app-knows-no-cli',
    severity: 'error',
    from: { path: ['^src/app/', '^src/yard\\.ts$'] },
    to: { path: '^src/cli/' },
  },
  {
    name: 'cli-goes-through-app',
    comment:
      'What connects to servers and clients is built by app; values, and questions about processes, are not.',
    severity: 'error',
    from: { path: '^src/(cli|bins)/', pathNot: '\\.test\\.ts$' },
    to: {
      path: '^src/[^/]+/',
      pathNot:
        '^src/(shared|app|cli|config|console|switchyard|hosts|language|exposure|gateway|process|search|secrets|audit|store)/',
    },
  },
];

for (const [folder, allowed] of Object.entries(folders)) {
  const types = typesOfConfig.includes(folder) ? ['config'] : [];
  const from = { path: `^src/${folder}/`, pathNot: '\\.(test|cases)\\.ts$' };
  rules.push({
    name: `${folder}-imports-only-what-it-may`,
    severity: 'error',
    from,
    to: { path: '^src/', pathNot: `^src/(${['shared', folder, ...allowed, ...types].join('|')})/` },
  });
  if (types.length > 0) {
    rules.push({
      name: `${folder}-knows-config-by-type-only`,
      severity: 'error',
      from,
      to: { path: '^src/config/', dependencyTypesNot: ['type-only'] },
    });
  }
}

// A folder that is in no row of the table may import nothing, so that it gets a row.
const listed = [...Object.keys(folders), 'app', 'cli', 'bins'].join('|');
rules.push({
  name: 'every-folder-has-a-row',
  severity: 'error',
  from: { path: '^src/[^/]+/', pathNot: `^src/(${listed})/` },
  to: {},
});

function yardRules() {
  const yard = '^src/switchyard/';
  const noTest = '\\.(test|cases)\\.ts$';
  const layers = Object.keys(yardLayers);
  const listed = [];
  const found = [];
  const allow = (name, from, allowed) => {
    listed.push(from);
    found.push({
      name: `switchyard-${name}-imports-only-what-it-may`,
      severity: 'error',
      from: { path: from, pathNot: noTest },
      to: { path: yard, pathNot: allowed },
    });
  };
  layers.forEach((layer, index) => {
    const below = layers.slice(0, index).map((each) => `${yard}${each}/`);
    const root = `${yard}${layer}/[^/]+\\.ts$`;
    allow(layer, root, [root, ...below]);
    const known = [];
    for (const [folder, allowed] of Object.entries(yardLayers[layer])) {
      const later = allowed.filter((each) => !known.includes(each));
      if (later.length > 0) throw new Error(`${layer}/${folder} may import ${later}, which come after it`);
      known.push(folder);
      const own = [folder, ...allowed].join('|');
      allow(`${layer}-${folder}`, `${yard}${layer}/${folder}/[^/]+\\.ts$`, [
        `${yard}${layer}/(${own})/`,
        root,
        ...below,
      ]);
    }
  });
  found.push({
    name: 'every-folder-of-switchyard-has-a-row',
    severity: 'error',
    from: { path: yard, pathNot: [...listed, `${yard}(index|lazy)\\.ts$`] },
    to: {},
  });
  return found;
}

module.exports = {
  forbidden: rules,
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default'],
    },
  },
};
