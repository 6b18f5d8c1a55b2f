import {
  composeEnv,
  remoteSecrets,
  resultSettings,
  type BuiltinDefinition,
  type ConfiguredServer,
  type RemoteDefinition,
  type ResultSettings,
  type ServerDefinition,
  type Settings,
  type StdioDefinition,
} from '../config/index.ts';
import { flat, hidden, scripted, searched, suite, toolRules } from '../exposure/index.ts';
import type { CatalogEntry, Exposure, ResultLimits, Results, Source, ToolRules } from '../gateway/index.ts';
import { isWrapper, languageSource, NATURAL_LANGUAGE, purposeOf } from '../language/index.ts';
import type { CatalogKind } from '../protocol/index.ts';
import { sandboxArguments, type ProgramSandbox } from '../process/index.ts';
import { secretsFile } from '../secrets/index.ts';
import type { Logger } from '../shared/log.ts';
import { stateDirectory } from '../shared/paths.ts';
import { isSecretName } from '../shared/secrets.ts';
import { createYardSource, type FileApproval } from '../switchyard/features/mcp/index.ts';
import {
  lazyLogin,
  type LoginKeychain,
  type ProcessTarget,
  type RemoteTarget,
  type UpstreamServer,
} from '../upstream/index.ts';

export interface ServerContext {
  readonly limits: Settings['limits'];
  readonly env: NodeJS.ProcessEnv;
  /** The directory for state that is kept between runs. */
  readonly stateDirectory: string;
  readonly keychain: LoginKeychain;
  readonly log: Logger;
  /** The command with which a user logs in to the named server. */
  readonly loginCommand: (server: string) => string;
  /** The gateways between the client and the server; this one is the last. */
  readonly gatewayPath: () => readonly string[];
  /** Whether several clients use it at the same time. */
  readonly shared: boolean;
  /** Whether the server exists only while it runs. */
  readonly volatile: boolean;
  /** The source does not start before this has settled. */
  readonly after: Promise<unknown> | undefined;
}

export interface PresentationContext {
  /** Whether the server exists only while it runs. */
  readonly volatile: boolean;
  /** Keeps results that are too long. */
  readonly results: Results;
}

/** How a configured server is exposed: a catalog entry without its source. */
export function presentationOf(
  server: ConfiguredServer,
  { volatile, results }: PresentationContext,
): Omit<CatalogEntry, 'source'> {
  let presentation = PRESENTATIONS.get(server);
  if (presentation === undefined) {
    const limits = resultLimits(server, results);
    presentation = {
      // With a language model in front, the rules apply to the tools that the model sees.
      rules: withResultLimits(server.language === undefined ? toolRules(server.tools) : ALLOW_ALL, limits),
      exposure: exposureOf(server, limits === undefined ? undefined : results),
      // A hidden server is available to compound tools only.
      offers: server.exposure === 'hidden' ? NO_KINDS : kindsOf(server.offer),
      naming: server.naming,
      volatile: volatile && !isAlwaysThere(server),
    };
    PRESENTATIONS.set(server, presentation);
  }
  return presentation;
}

/** The limits for the results of each tool of a server; undefined if no tool has limits. */
function resultLimits(server: ConfiguredServer, results: Results): ToolRules['resultLimits'] {
  const limited = (settings: ResultSettings | undefined): ResultLimits | undefined => {
    if (settings === undefined) return undefined;
    const { maxTokens, minify = false } = settings;
    // A token has at least one byte.
    return { results, maxTokens, minify, passBytes: minify ? 0 : (maxTokens ?? 0) };
  };
  const general = limited(server.results);
  const own = new Map<string, ResultLimits | undefined>();
  for (const [tool, shape] of server.language === undefined ? server.tools.shapes : [])
    if (shape.results !== undefined) own.set(tool, limited(resultSettings(shape.results, server.results)));
  if (general === undefined && own.size === 0) return undefined;
  return (tool) => (own.has(tool) ? own.get(tool) : general);
}

function withResultLimits(rules: ToolRules, limits: ToolRules['resultLimits']): ToolRules {
  return limits === undefined ? rules : { ...rules, resultLimits: limits };
}

const ALLOW_ALL: ToolRules = { allows: () => true, overrides: new Map() };

/** A built-in server runs as long as this program, and a language model starts its server when needed. */
function isAlwaysThere({ kind, language }: ConfiguredServer): boolean {
  return kind === 'builtin' || language !== undefined;
}

/** Created once per definition: every client of an HTTP door has its own catalog. */
const PRESENTATIONS = new WeakMap<ConfiguredServer, Omit<CatalogEntry, 'source'>>();

/** A configured server in the form that the upstream side uses. */
export function upstreamServer(
  server: Exclude<ServerDefinition, BuiltinDefinition>,
  context: ServerContext,
): UpstreamServer {
  const { limits, env, volatile, after } = context;
  return {
    name: server.name,
    target: server.kind === 'stdio' ? processTarget(server, env) : remoteTarget(server, context),
    secrets: () => [
      ...(server.kind === 'stdio' ? secretsOf(server, env) : remoteSecrets(server)),
      ...(server.secrets ?? []),
      ...(server.language?.apiKey === undefined ? [] : [server.language.apiKey]),
    ],
    timeouts: server.timeouts,
    limits,
    comesBack: !volatile || isAlwaysThere(server),
    shared: context.shared,
    ...(after === undefined ? {} : { startsAfter: after }),
  };
}

/** Wraps a part of this program as a source. */
export function builtinSource(
  { name, directory, project, named }: BuiltinDefinition,
  { env, log, approval }: Pick<ServerContext, 'env' | 'log'> & { readonly approval: FileApproval },
): Source {
  return createYardSource({
    name,
    project: { directory, project, onlyRegistered: !named, approval },
    env,
    log,
  });
}

/** A server as clients get it: behind its language model, if it has one. */
export function withLanguageModel(
  inner: Source,
  server: Exclude<ServerDefinition, BuiltinDefinition>,
  { env, log }: Pick<ServerContext, 'env' | 'log'>,
): Source {
  const { language, approval } = server;
  if (language === undefined) return inner;
  // If every such call is approved on its way to the server, the model does not have to ask too.
  const isAsked = [approval?.which, approval?.atLeast?.which].some(
    (which) => which === 'destructive' || which === 'all',
  );
  const allowDestructive = language.allowDestructive || isAsked;
  return languageSource({
    inner,
    server: { ...server, language: { ...language, allowDestructive } },
    rules: toolRules(server.tools),
    env,
    log,
  });
}

export function catalogEntry(
  source: Source,
  server: ConfiguredServer,
  context: PresentationContext,
): CatalogEntry {
  return { source, ...presentationOf(server, context) };
}

function processTarget(server: StdioDefinition, env: NodeJS.ProcessEnv): ProcessTarget {
  const { command, args, cwd, written, framing, sandbox } = server;
  const target: ProcessTarget = {
    kind: 'process',
    command,
    args,
    cwd,
    shown: written,
    env: () => ({ ...composeEnv(server, env), [DEPTH_VARIABLE]: String(nestingDepth(env) + 1) }),
    framing,
  };
  if (sandbox === undefined) return target;
  return {
    ...target,
    command: sandbox.bwrap,
    /** Computed when it starts: until then, the hidden paths may not exist. */
    get args() {
      return sandboxArguments({ command, args, cwd }, withOwnHidden(sandbox, env));
    },
  };
}

/** Hides the gateway's tokens, logins and secrets from every server in a sandbox. */
function withOwnHidden(sandbox: ProgramSandbox, env: NodeJS.ProcessEnv): ProgramSandbox {
  const own = [stateDirectory(env), secretsFile(env)];
  return { ...sandbox, hide: [...sandbox.hide, ...own] };
}

function remoteTarget(server: RemoteDefinition, context: ServerContext): RemoteTarget {
  const { stateDirectory: directory, keychain, log, gatewayPath } = context;
  const { name, transport, url, written, headers, oauth } = server;
  const authorized = Object.keys(headers).some((header) => header.toLowerCase() === 'authorization');
  return {
    kind: 'remote',
    transport,
    url,
    shown: written,
    loginHint: `Run: ${context.loginCommand(name)}`,
    // One of the servers may be a gateway, possibly this very one.
    headers: { ...headers, [PATH_HEADER]: gatewayPath().join(', ') },
    ...(oauth === false || authorized
      ? {}
      : { login: lazyLogin({ server: name, url, oauth, directory, keychain, log }) }),
  };
}

const NO_KINDS: ReadonlySet<CatalogKind> = new Set();

type Offer = ServerDefinition['offer'];

/** Shares one set among all servers with the default offer. */
function kindsOf(offer: Offer): ReadonlySet<CatalogKind> {
  let kinds = KINDS_OF.get(offer);
  if (kinds === undefined) {
    kinds = new Set(offer.flatMap((what) => KINDS_OFFERED[what]));
    KINDS_OF.set(offer, kinds);
  }
  return kinds;
}

const KINDS_OF = new WeakMap<Offer, ReadonlySet<CatalogKind>>();

const KINDS_OFFERED: Readonly<Record<Offer[number], readonly CatalogKind[]>> = {
  tools: ['tools'],
  resources: ['resources', 'resourceTemplates'],
  prompts: ['prompts'],
};

function exposureOf(server: ConfiguredServer, results: Results | undefined): Exposure {
  switch (server.exposure) {
    case 'flat':
      return flat(server.naming);
    case 'search':
      return searched;
    case 'code':
      return scripted;
    case 'hidden':
      return hidden;
    case 'suite':
      return suite({
        name: server.suite.name,
        description: server.suite.description,
        purpose: server.description,
        known: () => (server.kind === 'unusable' ? undefined : purposeOf(server)),
        invitation: hasLanguageModel(server) ? INVITATION : undefined,
        summaryMaxChars: server.suite.summaryMaxChars,
        instructionsMaxChars: server.suite.instructionsMaxChars,
        introspection: server.suite.mode,
        results,
        // A language model in front has a single tool, which may do anything.
        split: hasLanguageModel(server) ? undefined : server.suite.split,
      });
  }
}

/** Whether a language model is in front of the server, by its definition or because its command is a wrapper. */
function hasLanguageModel(server: ConfiguredServer): boolean {
  return server.language !== undefined || (server.kind === 'stdio' && isWrapper(server.args));
}

/** Tells models, in few tokens, how to use a server that has a language model in front. */
const INVITATION = {
  text: `Takes requests in natural language: action 'call', subtool '${NATURAL_LANGUAGE}', args {query}.`,
  unless: NATURAL_LANGUAGE,
};

/**
 * Texts to remove from a server's output: the values of its definition, and inherited values that look like secrets.
 */
function secretsOf(server: StdioDefinition, env: NodeJS.ProcessEnv): string[] {
  const inherited = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && isSecretName(name) ? [value] : [],
  );
  return [...Object.values(server.env), ...inherited];
}

/** The environment variable that tells a nested gateway how many gateways it runs behind. */
export const DEPTH_VARIABLE = 'SWITCHBOARD_DEPTH';

/** The HTTP header that lists the gateways a request came through. */
export const PATH_HEADER = 'switchboard-path';

/** How many gateways this one runs behind; 0 if a host started it. */
export function nestingDepth(env: NodeJS.ProcessEnv): number {
  const depth = Number(env[DEPTH_VARIABLE]);
  return Number.isInteger(depth) && depth > 0 ? depth : 0;
}
