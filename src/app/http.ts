import type { LoadedConfig } from '../config/index.ts';
import {
  connectClient,
  openHttp,
  type AccessTokens,
  type Caller,
  type ClientWorkspace,
  type HttpDoor,
  type HttpReplicas,
  type PageHandler,
} from '../doors/index.ts';
import type { Gateway } from '../gateway/index.ts';
import type { Logger } from '../shared/log.ts';
import { VERSION } from '../shared/version.ts';
import type { Store } from '../store/index.ts';
import { headersIn } from '../upstream/index.ts';
import { roleClaims } from '../roles/index.ts';
import type { MessageTransport } from '../wire/index.ts';
import { PATH_HEADER } from './entry.ts';
import { openProtectedResource } from './oauth.ts';
import type { Principals } from './principals.ts';
import type { Workspace } from './workspace.ts';

export { Principals } from './principals.ts';
export { SharedServers } from './shared-servers.ts';

export interface HttpOptions {
  readonly host: string;
  /** The port; 0: any free one. */
  readonly port: number;
  readonly tokens: AccessTokens;
  /** The token with which replicas prove requests to each other; the same on all of them. Default: each has its own. */
  readonly sharedToken?: string | undefined;
  /** Handles requests of browsers. Default: there is no page. */
  readonly page?: PageHandler;
  /**
   * Why new clients should connect elsewhere, in one word for /readyz, such as an unreachable store. Default: they need
   * not.
   */
  readonly notReady?: () => string | undefined;
  /** Called when the last client has left. */
  readonly emptied?: () => void;
}

/** A client with a session. */
interface SessionClient {
  /** The gateways between it and this one. */
  readonly gatewayPath: readonly string[];
  readonly caller: Caller;
}

interface HttpContext {
  readonly program: string;
  readonly log: Logger;
  readonly config: () => LoadedConfig;
  readonly env: NodeJS.ProcessEnv;
  /** Identifies this run in the gateway path. */
  readonly self: string;
  /** Handles the requests of clients without sessions. */
  readonly principals: Principals;
  /** The other replicas; undefined: there are none. */
  readonly replicas: HttpReplicas | undefined;
  /** The store that the replicas share. */
  readonly store: Store | undefined;
  /** Opens a workspace for one client with a session, and returns how it ends. */
  readonly openLegacy: (client: SessionClient) => {
    readonly workspace: Workspace;
    readonly close: () => Promise<void>;
  };
}

/** Lets clients connect over HTTP. */
export async function openHttpFor(
  { host, port, tokens, page, notReady, emptied }: HttpOptions,
  context: HttpContext,
): Promise<HttpDoor> {
  const { program, log, config, env, self, principals, replicas } = context;
  const roleClaimsIn = (claims: NonNullable<Caller['claims']>): string =>
    roleClaims(config().settings.roles, claims);
  const resource = await openProtectedResource({
    ...{ config: config(), env, log, store: context.store },
    roleClaims: roleClaimsIn,
  });
  const { http, limits } = config().settings;
  return openHttp({
    host,
    port,
    // Clients may also use the address as the user typed it.
    guard: {
      tokens,
      allowedHosts: [...http.allowedHosts, ...hostNames(host)],
      allowedOrigins: http.allowedOrigins,
    },
    limits: {
      bodyBytes: Math.min(MAX_BODY_BYTES, limits.messageBytes),
      sessions: http.maxSessions,
      sessionIdleMs: http.sessionIdleMs,
    },
    resource,
    log,
    loopGuard: { header: PATH_HEADER, self },
    open: (transport, gatewayPath, caller) => openForClient(transport, { gatewayPath, caller }, context),
    modern: principals,
    paramHeaders: (tool, caller) => paramHeadersOf(principals.workspaceOf(caller).gateway, tool),
    status: () => ({ name: program, version: VERSION, servers: config().servers.length }),
    notReady,
    ...(page === undefined ? {} : { page }),
    ...(emptied === undefined ? {} : { emptied }),
    replicas,
  });
}

/** The largest body of an HTTP request, in bytes. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** Connects one client with a session to its own workspace. */
function openForClient(
  transport: MessageTransport,
  session: SessionClient,
  { openLegacy, log }: HttpContext,
): ClientWorkspace {
  const { workspace, close } = openLegacy(session);
  const { gateway, identity } = workspace;
  const client = connectClient(transport, { gateway, identity, log });
  return {
    client,
    close: () => {
      client.leave();
      return close();
    },
  };
}

/** The host names that clients use for a listening address. A wildcard address has none. */
function hostNames(host: string): string[] {
  if (host === '0.0.0.0' || host === '::') return [];
  return [host.includes(':') ? `[${host}]` : host];
}

type ParamHeaders = Exclude<ReturnType<typeof headersIn>, string>;

/** The arguments of a tool that its server also wants in headers. */
function paramHeadersOf(gateway: Gateway, name: string): ParamHeaders {
  const tool = gateway.tool(name);
  if (tool === undefined) return [];
  let headers = knownHeaders.get(tool);
  if (headers === undefined) {
    const found = headersIn(tool.definition);
    headers = typeof found === 'string' ? [] : found;
    knownHeaders.set(tool, headers);
  }
  return headers;
}

/** A changed tool is a new object. Cached because serializing a definition is too expensive to do for every call. */
const knownHeaders = new WeakMap<object, ParamHeaders>();
